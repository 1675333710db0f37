"""Files that cases and outputs name by address: pictures that pages and models see, all others to be downloaded."""
