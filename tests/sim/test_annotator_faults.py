"""tests/sim/test_annotator_faults.py - capa-annotator while STS and EC2 fail: F3, F4, F6, F9, FR5.6, FR7.3.

After each fault the annotations are right, nothing wrong was ever written, and no failure was taken for a
type that does not exist.

muster-test: parallel
muster-test: timeout=300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import kubesuite
import tap
from capatree import ACTOR, M5_LARGE, M6G_XLARGE, World, annotator, metrics, ours, writes
from muster import wait_for

LAUGHS = ('<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
          + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
          + "]><DescribeInstanceTypesResponse><nextToken>&j;</nextToken></DescribeInstanceTypesResponse>")
PAGES = 8       # of eu-west-1


def prepare(aws):
    world = World(aws.server)
    world.cluster("prod", "eu-west-1")
    world.deployment("web", "m5.large")
    return world


def check_right(aws, world, name="web", want=None):
    """Annotated, by one write, and without an Event."""
    world.wait_annotated(name, want or M5_LARGE)
    rows = [row for row in writes(aws.server) if row["name"] == name]
    assert len(rows) == 1 and world.events(name) == [], (rows, world.events(name))


def read(aws):
    """(pages that were answered, all calls)."""
    rows = aws.calls()
    return len([row for row in rows if row["code"] == 200]), len(rows)


@tap.case
def F4_throttled_with_and_without_Retry_After_goes_on_at_the_same_page():
    with annotator() as (aws, tree):
        aws.fault("status", "describe-types", code=503, reason="RequestLimitExceeded",
                  retry_after="1", after=2)
        aws.fault("status", "describe-types", code=503, reason="RequestLimitExceeded", after=5)
        aws.fault("status", "assume-role", code=400, reason="Throttling")
        check_right(aws, prepare(aws))
        assert read(aws) == (PAGES, PAGES + 2), aws.audit()
        waited = [row["at_ms"] for row in aws.calls()]
        assert waited[3] - waited[2] >= 1000, "Retry-After is obeyed"


@tap.case
def F3_what_is_no_answer_is_requested_again():
    """503 with HTML, XML that ends too early, a connection that is cut, XML that would expand."""
    faults = [("status", {"code": 503, "body": "html"}), ("cut", {"bytes": 20000, "how": "clean"}),
              ("cut", {"bytes": 20000}), ("status", {"code": 200, "body": "text", "message": LAUGHS}),
              ("drop_connection", {})]
    for kind, keys in faults:
        with annotator() as (aws, tree):
            aws.fault(kind, "describe-types", after=3, **keys)
            check_right(aws, prepare(aws))
            pages, calls = read(aws)
            assert calls == PAGES + 1, (kind, aws.audit())
            assert not tree.facts(actor=ACTOR, level="warn"), tree.facts(actor=ACTOR, level="warn")


@tap.case
def FR7_3_a_fault_that_goes_on_fails_the_walk_and_nothing_is_unknown():
    with annotator(metrics=True) as (aws, tree):
        broken = aws.fault("status", "describe-types", code=503, body="html", count=1000)
        world = prepare(aws)
        wait_for(lambda: aws.hits(broken) >= 7, "it tries again and again")
        assert ours(world.annotations("web")) == {} and world.events("web") == [], "F3 not unknown"
        line = tree.facts(actor=ACTOR, level="warn", value="eu-west-1")[0]
        assert "503" in line["why"] and line["next_ms"] > 0, line
        text = tree.explain("web")
        assert "could not be read: m5.large in eu-west-1" in text or "being read" in text, text
        aws.clear_faults()
        check_right(aws, world)
        wait_for(lambda: any('fault="transient"' in labels and 'service="ec2"' in labels
                             for labels in metrics(tree, "muster_capa_aws_errors_total")), "it is counted")


@tap.case
def F3_F4_a_refresh_that_fails_keeps_what_was_read_and_is_never_an_unknown_type():
    with annotator(settings={"catalogue-ttl": "2s", "unknown-type-interval": "1s"}) as (aws, tree):
        world = prepare(aws)
        check_right(aws, world)
        aws.fault("status", "describe-types", code=403, reason="UnauthorizedOperation", count=1000)
        wait_for(lambda: tree.facts(actor=ACTOR, level="warn", value="eu-west-1"), "a refresh has failed")
        world.deployment("arm", "m6g.xlarge")        # known: the previous catalogue answers
        check_right(aws, world, "arm", M6G_XLARGE)
        world.deployment("bad", "m5.nope")
        kubesuite.pause(1)
        assert world.events("bad") == [], "only a complete and fresh catalogue can show that"
        aws.clear_faults()
        world.wait_event("bad", "FailedUpdate", "unknown instance type: m5.nope in eu-west-1")
        check_right(aws, world)


@tap.case
def F3_the_token_is_rotated():
    with annotator(settings={"catalogue-ttl": "2s"}) as (aws, tree):
        world = prepare(aws)
        check_right(aws, world)
        aws.add_token("two", "the-second-token")
        aws.remove_token(aws.token)
        aws.set("expired", True)
        aws.rotate("the-second-token")
        wait_for(lambda: any(row["token"] == "two" for row in aws.calls()), "the new token is used")
        world.deployment("arm", "m6g.xlarge")
        check_right(aws, world, "arm", M6G_XLARGE)
        for text in ("the-second-token", aws.token, "ASIA"):
            assert text not in tree.log(), "a secret is in the log"


@tap.case
def F3_a_token_that_is_refused_and_a_file_that_is_missing_wait_for_another():
    with annotator() as (aws, tree):
        aws.rotate("some-other-token")
        world = prepare(aws)
        wait_for(lambda: tree.facts(actor=ACTOR, level="error"), "it is logged")
        line = tree.facts(actor=ACTOR, level="error")[0]
        assert "InvalidIdentityToken" in line["why"] and line["hint"], line
        file = aws.web_token_file()
        file.unlink()
        wait_for(lambda: any("cannot be read" in row["why"]
                             for row in tree.facts(actor=ACTOR, level="error")), "the missing file is logged")
        assert world.events("web") == [] and not aws.calls(), "F3 this is no unknown type"
        assert "credentials" in tree.explain("web"), tree.explain("web")
        aws.rotate(aws.token)
        check_right(aws, world)
        assert "some-other-token" not in tree.log()


@tap.case
def F9_credentials_that_expire_in_the_middle_of_paging_are_renewed():
    with annotator() as (aws, tree):
        aws.set("credential_calls", 3)
        check_right(aws, prepare(aws))
        pages, calls = read(aws)
        # Every three pages there are others; the page that was refused is requested again, no other is.
        assert pages == PAGES and len(aws.calls("assume-role")) == 3, aws.audit()
        details = [row["detail"] for row in aws.calls() if row["code"] == 200]
        assert len(set(details)) == PAGES and calls == PAGES + 2, details


@tap.case
def F3_credentials_are_renewed_before_they_expire_and_not_while_nothing_is_read():
    with annotator(settings={"catalogue-ttl": "5s", "credential-slack": "5s"}) as (aws, tree):
        aws.set("credentials_s", 8)
        check_right(aws, prepare(aws))
        wait_for(lambda: len(aws.calls()) >= 2 * PAGES, "it is read again")
        rows = aws.calls()
        assert {row["code"] for row in rows} == {200}, "F3 none was used that had expired"
        readings = len([row for row in rows if " from 0 " in row["detail"]])
        assert 2 <= len(aws.calls("assume-role")) <= readings + 2, "A12 for a reading, and not between two"


@tap.case
def F9_the_clock_of_AWS_counts():
    for ahead in (3600, -3600):
        with annotator() as (aws, tree):
            aws.set("clock_ahead_s", ahead)
            world = prepare(aws)
            check_right(aws, world)
            # Later it differs again: one refusal, then the time of the service is used.
            aws.set("clock_ahead_s", -ahead)
            world.cluster("far", "us-west-2")
            world.deployment("arm", "m6g.xlarge", "far")
            check_right(aws, world, "arm", M6G_XLARGE)


@tap.case
def FR5_6_F4_a_token_of_a_page_that_comes_twice_ends_the_walk():
    with annotator() as (aws, tree):
        aws.set("repeat_token", 1)
        world = prepare(aws)
        wait_for(lambda: len(tree.facts(actor=ACTOR, level="warn", value="eu-west-1")) >= 2, "it fails twice")
        assert "repeats the token" in tree.facts(actor=ACTOR, level="warn", value="eu-west-1")[0]["why"]
        assert ours(world.annotations("web")) == {} and world.events("web") == []
        aws.set("repeat_token", 0)
        check_right(aws, world)
        # A token that EC2 refuses: all pages again.
        aws.fault("status", "describe-types", code=400, reason="InvalidNextToken", after=2)
        world.cluster("far", "us-west-2")
        world.deployment("arm", "m6g.xlarge", "far")
        check_right(aws, world, "arm", M6G_XLARGE)


@tap.case
def F3_what_the_role_may_not_do_is_named():
    with annotator() as (aws, tree):
        aws.fault("status", "assume-role", code=403, reason="AccessDenied",
                  message="Not authorized to assume")
        world = prepare(aws)
        wait_for(lambda: any("AccessDenied: Not authorized to assume" in row["why"]
                             for row in tree.facts(actor=ACTOR, level="error")), "it is logged")
        check_right(aws, world)
        status = tree.actor(ACTOR)
        assert status["state"] == "running", status


@tap.case
def F6_each_service_has_its_own_endpoint():
    with annotator(identity={"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_REGION": ""}) as (aws, tree):
        world = prepare(aws)
        wait_for(lambda: tree.facts(actor=ACTOR, level="error"), "nobody answers there")
        assert not aws.audit(), aws.audit()
        both = {"AWS_ENDPOINT_URL_STS": aws.url, "AWS_ENDPOINT_URL_EC2": aws.url + "/"}
        assert tree.stop() == 0
        tree.env.update(both)
        tree.start()
        check_right(aws, world)


tap.main()
