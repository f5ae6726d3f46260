"""The study file and the cells that it stands for."""
