"""One person's activity, minute by minute, each minute reported through randomised response: what does it tell about one moment?"""

from privproof import MarkovPrior, mechanism, one_of, randomized_response, time_series


@mechanism
def report(activity: one_of("rest", "walk")):
    return randomized_response(activity, truth="3/4", among=("rest", "walk"))


steady = MarkovPrior.of(
    ["rest", "walk"],
    initial={"rest": "1/2", "walk": "1/2"},
    transitions={"rest": {"rest": "4/5", "walk": "1/5"}, "walk": {"walk": "4/5", "rest": "1/5"}},
)

somewhere_between = MarkovPrior.of(
    ["rest", "walk"],
    initial={"rest": "1/2", "walk": "1/2"},
    parameters={"stay": "0.6 <= stay <= 0.9"},
    transitions={"rest": {"rest": "stay", "walk": "1 - stay"}, "walk": {"walk": "stay", "rest": "1 - stay"}},
)

first_minute = time_series(report, steady)
third_of_five = time_series(report, steady, secret_at=3, length=5)
unknown_chain = time_series(report, somewhere_between)
