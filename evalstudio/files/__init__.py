"""Pictures that cases and outputs name by address, kept so that pages and models can see them."""
