"""One call that wires the stages: statistics → guide → attention and ascent → decode → ``Learned``."""

from kgmi.learning.certified import bootstrap, certify
from kgmi.learning.certifier import Certifier
from kgmi.learning.learn import learn
from kgmi.learning.learned import Learned

__all__ = ["Certifier", "Learned", "bootstrap", "certify", "learn"]
