"""The record of evaluations of test sets, and test sets whose labels are sealed."""
