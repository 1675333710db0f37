// menus
