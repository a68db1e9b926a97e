"""The scikit-learn face of :func:`kgmi.learn`. It loads scikit-learn, so ``import kgmi`` does not load it."""

from kgmi.estimator.estimator import KGMI

__all__ = ["KGMI"]
