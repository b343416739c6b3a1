"""tests/sim/test_aws_wire.py - muster-sim --aws, and requests and answers of capa-annotator: F3, F4, F6, F9.

The signatures of the requests by hand are made here, from the description of the protocol; those of
muster-test-aws by the product's HTTP client. The simulator checks both.

muster-test: parallel
"""
import datetime
import hashlib
import hmac
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import tap
from providers import Provider

PROGRAM = pathlib.Path(os.environ["MUSTER_BIN"]) / "muster-test-aws"
ROLE = "arn:aws:iam::111122223333:role/annotator"
LAUGHS = ('<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
          + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
          + "]><DescribeInstanceTypesResponse><nextToken>&j;</nextToken></DescribeInstanceTypesResponse>")


class Aws(Provider):
    def __init__(self, **more):
        super().__init__("aws", **more)

    def walk(self, region="eu-west-1", role=ROLE):
        """(types by name, the last line) of muster-test-aws."""
        done = subprocess.run([PROGRAM, self.url, region, role, self.token_file], capture_output=True,
                              text=True, timeout=60)
        assert done.returncode in (0, 1), done.stderr
        *types, last = [json.loads(line) for line in done.stdout.splitlines()]
        assert (done.returncode == 1) == ("error" in last), last
        return {row["name"]: row for row in types}, last

    def failure(self, **keys):
        """What the walk ends with: (status, code, fault)."""
        _, last = self.walk(**keys)
        return last["status"], last["code"], last["fault"]

    def post(self, form, headers=None):
        """(status, text) of one request."""
        connection = self.api.connect()
        connection.request("POST", "/", form if isinstance(form, str) else urllib.parse.urlencode(form),
                           {"content-type": "application/x-www-form-urlencoded", **(headers or {})})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        assert response.getheader("Content-Type").startswith("text/xml"), response.getheaders()
        return response.status, text

    def identity(self, **more):
        return {"Action": "AssumeRoleWithWebIdentity", "Version": "2011-06-15", "RoleArn": ROLE,
                "RoleSessionName": "s1", "WebIdentityToken": self.token, **more}

    def credentials(self, **more):
        status, text = self.post(self.identity(**more))
        assert status == 200, text
        return [element(text, name) for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")]

    def signed(self, form, keys, region="eu-west-1", unsigned=(), at=None, body=None, host=None):
        """A signed POST of EC2. body: what is sent in place of what was signed."""
        access, secret, session = keys
        now = at or datetime.datetime.now(datetime.timezone.utc)
        date, text = now.strftime("%Y%m%dT%H%M%SZ"), urllib.parse.urlencode(form)
        headers = {"host": host or self.url.removeprefix("http://"), "x-amz-date": date,
                   "x-amz-security-token": session, "content-type": "application/x-www-form-urlencoded"}
        names = sorted(set(headers) - set(unsigned))
        canonical = "\n".join(["POST", "/", "", *(f"{name}:{headers[name]}" for name in names), "",
                               ";".join(names), hashlib.sha256(text.encode()).hexdigest()])
        scope = f"{date[:8]}/{region}/ec2/aws4_request"
        to_sign = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = f"AWS4{secret}".encode()
        for part in (*scope.split("/"), to_sign):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={access}/{scope}, "
                                    f"SignedHeaders={';'.join(names)}, Signature={key.hex()}")
        return self.post(body or text, headers)


def element(text, name):
    found = re.search(f"<{name}>([^<]*)</{name}>", text)
    return found[1] if found else None


def describe(**more):
    return {"Action": "DescribeInstanceTypes", "Version": "2016-11-15", **more}


def refusal(answer):
    status, text = answer
    return status, element(text, "Code")


@tap.case
def F4_F9_the_catalogue_of_a_region_is_read():
    with Aws() as aws:
        types, last = aws.walk("us-east-1")
        assert 700 <= len(types) <= 1000, len(types)
        figures = {name: (row["vcpus"], row["memory_mib"], row["gpus"], row["arch"], row["maker"])
                   for name, row in types.items()}
        for name, want in {
                "m5.large": (2, 8192, 0, "amd64", ""), "m6g.xlarge": (4, 16384, 0, "arm64", ""),
                "t2.micro": (1, 1024, 0, "amd64", ""), "mac2.metal": (8, 16384, 0, "arm64", ""),
                "g5.12xlarge": (48, 196608, 4, "amd64", "NVIDIA"),
                "g5g.xlarge": (4, 8192, 1, "arm64", "NVIDIA"),
                "g4ad.8xlarge": (32, 131072, 2, "amd64", "AMD"),
                "g6f.large": (2, 8192, 1, "amd64", "NVIDIA"),        # a part of a GPU
                "dl1.24xlarge": (96, 786432, 8, "amd64", "other"),
                "inf2.48xlarge": (192, 786432, 0, "amd64", "")}.items():
            assert figures[name] == want, (name, figures[name])
        rows = [row for row in aws.audit() if row["class"] == "describe-types"]
        assert len(rows) == last["pages"] == -(-len(types) // 100), (len(rows), last)
        assert {row["token"] for row in aws.audit()} == {"one"}
        [made] = aws.effects()
        assert made["effect"].startswith("credentials ASIA"), made
        others, _ = aws.walk("eu-north-1")
        assert set(others) < set(types), "another region has fewer types"


@tap.case
def F6_regions_and_partitions_by_the_scope():
    with Aws() as aws:
        refused = (401, "AuthFailure", "credentials")
        assert aws.failure(region="cn-north-1") == refused
        assert aws.failure(region="eu-nowhere-1") == refused
        china, _ = aws.walk("cn-north-1", ROLE.replace("arn:aws:", "arn:aws-cn:"))
        assert "m5.large" in china
        keys = aws.credentials()
        host = "ec2.eu-west-1.amazonaws.com"
        assert aws.signed(describe(), keys, host=host)[0] == 200
        assert refusal(aws.signed(describe(), keys, region="us-east-1", host=host)) == (
            403, "SignatureDoesNotMatch")


@tap.case
def signatures_are_verified():
    with Aws() as aws:
        keys = aws.credentials()
        status, text = aws.signed(describe(MaxResults=5), keys)
        assert status == 200 and text.count("<instanceType>") == 5, text[:400]
        wrong = (403, "SignatureDoesNotMatch")
        form = describe(MaxResults=5)
        assert refusal(aws.signed(form, [keys[0], keys[1][::-1], keys[2]])) == wrong
        assert refusal(aws.signed(form, keys, body=urllib.parse.urlencode(describe(MaxResults=6)))) == wrong
        assert refusal(aws.signed(form, keys, unsigned=["x-amz-security-token"])) == wrong
        assert refusal(aws.signed(form, keys, unsigned=["host"])) == wrong
        assert aws.signed(form, keys, unsigned=["content-type"])[0] == 200
        assert refusal(aws.signed(form, [*keys[:2], "other"])) == (401, "AuthFailure")
        assert refusal(aws.signed(form, ["ASIAOTHER", *keys[1:]])) == (401, "AuthFailure")
        assert refusal(aws.post(form)) == (403, "MissingAuthenticationToken")
        assert refusal(aws.post(form, {"Authorization": "AWS4-HMAC-SHA256 x"})) == (
            400, "IncompleteSignature")


@tap.case
def requests_of_another_form_are_refused():
    with Aws() as aws:
        keys = aws.credentials()
        for form, want in [(describe(MaxResults=4), "InvalidParameterValue"),
                           (describe(MaxResults=101), "InvalidParameterValue"),
                           (describe(NextToken="bm9uZQ=="), "InvalidNextToken"),
                           (describe(**{"InstanceType.1": "m5.large", "MaxResults": 5}),
                            "InvalidParameterCombination"),
                           (describe(**{"InstanceType.1": "m5.none"}), "InvalidInstanceType"),
                           ({**describe(), "Version": "2001-01-01"}, "NoSuchVersion")]:
            assert refusal(aws.signed(form, keys)) == (400, want), (form, want)
        two = {"InstanceType.1": "m5.large", "InstanceType.2": "c5.large"}
        status, text = aws.signed(describe(**two), keys)
        assert status == 200 and re.findall("<instanceType>([^<]*)<", text) == ["m5.large", "c5.large"]
        assert refusal(aws.post({"Action": "RunInstances"})) == (400, "InvalidAction")
        for more in ({"RoleArn": "arn:aws:iam::1:role/x"}, {"RoleSessionName": "a"}, {"Version": "1"},
                     {"DurationSeconds": "10"}):
            status, text = aws.post(aws.identity(**more))
            assert (status, element(text, "Code")) == (400, "ValidationError"), text
            assert text.startswith("<ErrorResponse "), text


@tap.case
def F9_web_identity_tokens_and_their_rotation():
    with Aws() as aws:
        aws.remove_token(aws.token)
        assert aws.failure() == (400, "InvalidIdentityToken", "token")
        aws.add_token("two", "the-second-token")
        aws.token_file.write_text("the-second-token\n")
        types, _ = aws.walk()
        assert types and aws.audit()[-1]["token"] == "two"
        aws.fault("status", "assume-role", code=403, reason="AccessDenied", message="Not authorized")
        assert aws.failure() == (403, "AccessDenied", "denied")
        aws.fault("status", "assume-role", code=400, reason="ExpiredTokenException")
        assert aws.failure() == (400, "ExpiredTokenException", "token")


@tap.case
def F4_throttling_with_and_without_retry_after():
    with Aws() as aws:
        aws.fault("status", "describe-types", code=503, reason="RequestLimitExceeded", retry_after="3",
                  after=2)
        _, last = aws.walk()
        assert (last["status"], last["fault"], last["retry_after_ms"], last["page"]) == (
            503, "throttled", 3000, 2), last
        aws.limit("describe-types", 3)
        _, last = aws.walk()
        assert (last["status"], last["code"], last["fault"], last["retry_after_ms"], last["page"]) == (
            503, "RequestLimitExceeded", "throttled", 0, 3), last
        aws.limit("describe-types", 0)
        aws.limit("assume-role", 1)
        aws.credentials()
        assert aws.failure() == (400, "Throttling", "throttled")


@tap.case
def F3_answers_that_are_none():
    with Aws() as aws:
        aws.fault("status", "describe-types", code=503, body="html", after=1)
        assert aws.failure() == (503, "", "transient")
        aws.fault("cut", "describe-types", bytes=20000, how="clean")
        _, last = aws.walk()
        assert last["status"] == 200 and last["page"] == 0 and last["error"], last
        aws.fault("cut", "describe-types", bytes=20000)
        _, last = aws.walk()
        assert last["error"], last
        aws.fault("status", "describe-types", code=200, body="text", message=LAUGHS)
        _, last = aws.walk()
        assert last["status"] == 200 and "type declaration" in last["error"], last
        aws.set("repeat_token", 1)
        _, last = aws.walk()
        assert last == {"pages": 2, "error": "the token of the next page came before"}, last
        aws.set("repeat_token", 0)
        assert aws.walk()[1]["pages"] > 5


@tap.case
def F9_credentials_expire_between_two_pages():
    with Aws() as aws:
        aws.set("credential_calls", 3)
        _, last = aws.walk()
        assert (last["status"], last["code"], last["fault"], last["page"]) == (
            400, "RequestExpired", "credentials", 3), last
        aws.set("credential_calls", 0)
        keys = aws.credentials()
        assert aws.signed(describe(), keys)[0] == 200
        aws.set("expired", True)
        assert refusal(aws.signed(describe(), keys)) == (400, "RequestExpired")
        assert {one["expired"] for one in aws.state()["credentials"]} == {True}
        assert aws.walk()[1]["pages"] > 5, "new ones are good"


@tap.case
def F9_clock_skew():
    with Aws() as aws:
        aws.set("clock_ahead_s", 3600)
        assert aws.failure() == (400, "RequestExpired", "clock")
        aws.set("clock_ahead_s", -3600)
        assert aws.failure() == (403, "SignatureDoesNotMatch", "clock")
        aws.set("clock_ahead_s", 200)
        assert aws.walk()[1]["pages"] > 5, "five minutes are tolerated"


@tap.case
def a_type_may_come_later():
    with Aws() as aws:
        aws.set("hidden", ["m5.large", "g5.xlarge"])
        types, _ = aws.walk()
        assert "m5.large" not in types and "m5.xlarge" in types
        aws.set("hidden", [])
        assert "m5.large" in aws.walk()[0]


tap.main()
