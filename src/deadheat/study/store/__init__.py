"""The SQLite file that holds the results of a study."""
