"""The experiments of the paper as data: settings, measurements, claims and figures of each."""
