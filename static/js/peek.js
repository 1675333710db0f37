// peek
