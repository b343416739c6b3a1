"""tests/lib/motoserver.py - moto, an independent model of AWS, and boto3 as its client.

    with Moto() as moto:
        types = moto.types("eu-west-1")     name -> the annotations that follow from what boto3 reads
        identity(server, moto)              the environment of capa-annotator

Both run in a virtual environment of their own (kubetools).
"""
import json
import subprocess
import urllib.request

import kubetools
import procs
from capatree import figures

ROLE = "arn:aws:iam::123456789012:role/annotator"
SERVER = """
import sys
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://%s:%d" % server.get_host_and_port(), flush=True)
sys.stdin.read()
server.stop()
"""
# Arguments: URL, and a region to read. Each line of stdin is a call: service, operation, keys.
CLIENT = """
import boto3, json, sys
url, region = sys.argv[1:]
clients = {name: boto3.client(name, region_name=region, endpoint_url=url, aws_access_key_id="AKIDEXAMPLE",
                              aws_secret_access_key="wrong") for name in ("iam", "ec2")}
for line in sys.stdin:
    service, operation, keys = json.loads(line)
    try:
        answer = getattr(clients[service], operation)(**keys)
    except clients[service].exceptions.ClientError as error:
        answer = {"error": error.response["Error"]["Code"]}
    print(json.dumps(answer, default=str))
"""
ALLOW = {"RoleName": "annotator", "PolicyName": "read", "PolicyDocument": json.dumps({
    "Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": "ec2:DescribeInstanceTypes", "Resource": "*"}]})}
READ = ["ec2", "describe_instance_types", {}]
GPU_TYPES = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu"}


class Moto:
    """moto's server on loopback, with the role."""

    def __init__(self):
        self.python = kubetools.path("moto")

    def __enter__(self):
        self.child = subprocess.Popen([self.python, "-c", SERVER], stdin=subprocess.PIPE, text=True,
                                      stdout=subprocess.PIPE, preexec_fn=procs.die_with_parent)
        self.url = self.child.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), self.url
        made, = self.boto3(["iam", "create_role", {"RoleName": "annotator",
                                                   "AssumeRolePolicyDocument": "{}"}])
        assert made["Role"]["Arn"] == ROLE, made
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        assert self.child.wait(timeout=60) == 0
        self.child.stdout.close()

    def boto3(self, *calls, region="eu-west-1"):
        """The answers to these calls."""
        done = subprocess.run([self.python, "-c", CLIENT, self.url, region], text=True, capture_output=True,
                              input="".join(json.dumps(call) + "\n" for call in calls), timeout=120)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def judge_after(self, calls):
        """From then on every call must be signed and allowed; AssumeRoleWithWebIdentity never is signed."""
        request = urllib.request.Request(f"{self.url}/moto-api/reset-auth", data=str(calls).encode(),
                                         headers={"Content-Type": "text/plain"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200
        if calls == 0:
            refused, = self.boto3(READ)
            assert refused == {"error": "AuthFailure"}, f"moto does not judge: {str(refused)[:200]}"

    def types(self, region):
        """name -> the annotations, from what boto3 reads (F1, F9)."""
        answer, = self.boto3(READ, region=region)
        assert not answer.get("NextToken"), "moto has more than one page now: walk through them"
        return {row["InstanceType"]: wanted(row) for row in answer["InstanceTypes"]}


def wanted(row):
    gpus = row.get("GpuInfo", {}).get("Gpus", [])
    makers = {gpu["Manufacturer"] for gpu in gpus}
    arm = any("arm64" in name for name in row["ProcessorInfo"]["SupportedArchitectures"])
    return figures(row["VCpuInfo"]["DefaultVCpus"], row["MemoryInfo"]["SizeInMiB"],
                   "arm64" if arm else "amd64",
                   sum(gpu["Count"] or gpu.get("LogicalGpuCount", 0) for gpu in gpus),
                   GPU_TYPES.get(*makers) if len(makers) == 1 else None)


def identity(server, moto, **more):
    token = server.folder / "web-identity"
    token.mkdir(exist_ok=True)
    (token / "token").write_text("eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl\n")
    return {"AWS_ROLE_ARN": ROLE, "AWS_WEB_IDENTITY_TOKEN_FILE": str(token / "token"),
            "AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": moto.url, **more}
