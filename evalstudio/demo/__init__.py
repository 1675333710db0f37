"""The demo project's material: support answers of a bike-sharing company, made up for this purpose."""
