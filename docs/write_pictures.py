"""Draw the pictures of pictures.md: python docs/write_pictures.py."""

from pathlib import Path

from PIL import Image

import kgmi
from kgmi.examples import example
from kgmi.plots import save_figures

FOLDER = Path(__file__).parent / "pictures"

ten = kgmi.learn(example("paper").table, n_parents=2)
save_figures(ten, FOLDER, dpi=80, force=True)  # those that are there were made smaller

process = kgmi.Process(kgmi.Dag.random(500, 2, rng=50), kgmi.Kernel.paper())
many = kgmi.learn(kgmi.sample(process, 2_000, rng=51), n_parents=2)
for path in save_figures(many, FOLDER / "500", names=["layers", "scores"], dpi=55):
    path.rename(FOLDER / f"{path.stem}-500.png")
(FOLDER / "500").rmdir()

for path in FOLDER.glob("*.png"):  # a hundred colours are enough, and a third of the size
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)
