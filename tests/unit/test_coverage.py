"""tests/unit/test_coverage.py - which share of a file must run, after which programs."""
import coverage
import tap

DISCOVER, OTHER = "actors/vpsie-claimer/discover.c", "actors/vpsie-claimer/group.c"
ALL = ["suites.py", "coverage:unit", "coverage:sim"]


@tap.case
def a_share_is_required_when_all_its_programs_ran():
    assert coverage.required(DISCOVER, ALL) == 90 and coverage.required(OTHER, ALL) == 85
    assert coverage.required("base/json.c", ALL) is None
    single = coverage.needed_runs()
    assert len(single) > 10 and coverage.required(DISCOVER, single) == 90, single
    assert coverage.required(DISCOVER, single[1:]) is None, "one of them is missing"
    assert coverage.required(DISCOVER, ["debug:unit", "debug:sim"]) is None, "another build"


@tap.case
def a_file_below_its_share_is_a_failure_with_both_figures():
    assert coverage.judge({DISCOVER: (90, 100), OTHER: (85, 100), "base/json.c": (0, 9)}, ALL) == (2, [])
    passed, missing = coverage.judge({DISCOVER: (899, 1000), OTHER: (100, 100)}, ALL)
    assert passed == 1 and missing == [f"{DISCOVER}: 899 of 1000 lines ran, 90 % are required"], missing
    assert len(coverage.judge({"base/json.c": (9, 9)}, ALL)[1]) == 2, "nothing that must run was counted"


@tap.case
def the_total_counts_them():
    assert coverage.total("7 passed, 0 failed\n", 20, 1) == "27 passed, 1 failed\n"
    assert coverage.total("Traceback\n", 20, 1) == "Traceback\n"


tap.main()
