"""Other people's programs: a TOML file for each, and scripts for those without a command line that fits.

The scripts run with the Python of the program's own environment and import nothing from Deadheat.
"""
