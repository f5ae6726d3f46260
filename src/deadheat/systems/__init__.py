"""Systems to compare: taggers, and any program by its command line. Importing this registers all of them."""
