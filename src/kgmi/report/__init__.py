"""A result as one self-contained page, and what it is made of: values, script and style."""

from kgmi.report.page import report_html, write_report
from kgmi.report.shipped import asset
from kgmi.report.view import view_of

__all__ = ["asset", "report_html", "view_of", "write_report"]
