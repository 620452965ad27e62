"""What releases bring: noisy queries of correlated data, accounts of several, and mechanisms for locations."""

from privproof.capabilities import Capability, Command, Kind, Shown

CAPABILITY = Capability(
    "release",
    kinds={
        "release": Kind("release.release_document:document", "release.release_report:ReleaseReport"),
        "account": Kind("release.account_document:document", "release.account_report:AccountReport"),
        "location": Kind(
            "release.locations.location_document:document", "release.locations.location_report:LocationReport"
        ),
    },
    engines=(
        ("locations", ("location",), "release.locations.location_engine:LocationEngine"),
        ("release-divergences", ("measured",), "release.release_divergence_engine:ReleaseDivergencesEngine"),
        ("account", ("account",), "release.account_engine:AccountEngine"),
        ("release", ("release",), "release.release_engine:ReleaseEngine"),
    ),
    commands={
        "account": Command(
            "release.ledger.account_command",
            "The ledger: what was released about data sets, what it cost, and what is left.",
        ),
        "release": Command(
            "release.release_command",
            "Release a query of correlated data with noise that keeps every entry secret within the budget.",
        ),
        "locations": Command(
            "release.locations.locations_command",
            "Report places and traces of a table with noise: near places are hardly told apart.",
        ),
    },
    shown={
        "release.table_release.Record": Shown("release.release_cards:record_card"),
        "release.noisy_release.Released": Shown("release.release_cards:released_card"),
    },
    held={
        "release.markov_chains.Chain": "model",
        "release.markov_chains.Band": "model",
        "release.hidden_chains.Hidden": "model",
        "release.gaussian_chains.GaussianChain": "model",
        "release.bayes_networks.Network": "model",
    },
)
