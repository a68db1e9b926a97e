"""Example data shipped with the package."""
