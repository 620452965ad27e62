"""The options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Target = Annotated[str, typer.Argument(metavar="FILE[:NAME]", help="A model file, or a Python file and a name in it.")]
Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE[:NAME]|FOLDER|MODULE[:NAME]]...",
        help="Model files, Python files and names in them, folders, packages; default: the paths of [tool.privproof].",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say less: the verdict alone; of several, what is not proved.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say what is being tried; of several, everything about each.")
]
DeltaText = Annotated[str | None, typer.Option("--delta", help="The budget's delta, over events; default 0.")]
Pointwise = Annotated[bool, typer.Option("--pointwise", help="Read delta for each output instead of each event.")]
RhoText = Annotated[str | None, typer.Option("--rho", help="Instead of an epsilon: rho, of zCDP.")]
MuText = Annotated[
    str | None, typer.Option("--mu", help="Instead of an epsilon: mu, of Gaussian differential privacy.")
]
RenyiTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--renyi",
        metavar="ORDER=VALUE",
        help="Instead of an epsilon: a bound on the Rényi divergence of an order; may be repeated.",
    ),
]
Size = Annotated[
    str | None, typer.Option("--size", help="The length of the lists that a mechanism reads: 3, or a range 2..8.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="The value of a parameter; may be repeated.")
]
Constants = Annotated[
    str | None,
    typer.Option(
        "--const",
        "-const",
        metavar="N=3,p=0.1",
        help="Constants that a PRISM model leaves open, as PRISM has it; N=1:2:5 asks for 1, 3 and 5.",
    ),
]
SelfLoops = Annotated[bool, typer.Option("--self-loops", help="Let a state without a transition stay where it is.")]
Rounded = Annotated[
    bool, typer.Option("--rounded", help="Of a .drn file, divide rows that miss the sum 1 by rounding by their sum.")
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=DATA",
        help="What a parameter of a function may be: 'data=records(yes, no)'; may be repeated.",
    ),
]
NeighboursText = Annotated[
    str | None,
    typer.Option("--neighbours", help="Which data of a function are neighbours: one, each, monotone or add-remove."),
]
Compose = Annotated[int | None, typer.Option("--compose", metavar="K", help="K uses on the same data, instead of one.")]
Subsample = Annotated[
    str | None,
    typer.Option("--subsample", metavar="RATE", help="Each use on a sample of the data: the share of records, 1/100."),
]
SamplingText = Annotated[
    str | None,
    typer.Option("--sampling", help="How records are sampled: poisson (added or removed), or without-replacement."),
]
HorizonText = Annotated[str | None, typer.Option("--horizon", help='Word lengths: K, "up to K" or unbounded.')]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="table, tensors, frontier, unbounded, events, smt, streams, laplace or runs; default: the first that fits.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
CertificateOut = Annotated[Path | None, typer.Option("--certificate", help="Write the certificate here.")]
ReportOut = Annotated[
    Path | None, typer.Option("--report", help="Write a report here: HTML; LaTeX for OUT.tex; its parts for OUT.json.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Processes that share the work; the answer is the same.")
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="A dask cluster that shares the work: tcp://host:8786."),
]
Part = Annotated[bool, typer.Option("--part", hidden=True)]
"""Answer for a process that gathers several answers."""
Reporting = Annotated[bool, typer.Option("--report-out", hidden=True)]
"""Say what another process needs to admit the verdict."""
ReportIn = Annotated[Path | None, typer.Option("--report-in", hidden=True)]
"""A file with what another process has said so."""
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", min=0, help="Stop after so many seconds in all, with what is known.")
]
MemoryLimit = Annotated[
    str | None,
    typer.Option("--memory-limit", help="Stop beyond so much memory, 4G or 500M, with what is known; default: 80 %."),
]
PaidFrom = Annotated[
    str | None,
    typer.Option("--account", metavar="LEDGER", help="Enter what it costs there, before noise is drawn."),
]
LedgerDataset = Annotated[
    str | None, typer.Option("--dataset", help="The data set of the ledger, where there are several.")
]
LedgerAnalyst = Annotated[str, typer.Option("--analyst", help="Who releases, for the ledger.")]
LedgerNote = Annotated[str, typer.Option("--note", help="What is released, for the ledger.")]
NoiseSeed = Annotated[
    int | None, typer.Option("--seed", help="Draw the noise from a seed: for tests, not for release.")
]
