"""REST views of the people of a project."""
