#!/usr/bin/env python3
"""deploy/generate.py [--check] - writes what follows from the tables of the program, and only from them.

    deploy/rbac.yaml                        the rights of all actors (proto/rights.h, proto/kinds.h)
    deploy/kustomize/*/*/rbac.yaml          those of the actors that the muster.yaml beside it enables
    deploy/helm/muster/rights/ACTOR.yaml    those of one actor, with what it needs; the chart joins them
    deploy/helm/muster/values.schema.json   every setting (config/settings.h)

With --check nothing is written: files that differ are named, and the exit code is 1. $MUSTER_BIN has the
program muster; default build/debug/bin.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DEPLOY = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("MUSTER_BIN", DEPLOY.parent / "build/debug/bin"))
CHART = DEPLOY / "helm/muster"
ALWAYS = ("kube-watcher", "metrics")    # on unless they are switched off
# What an actor does not start without; which rights it needs does not depend on it.
NEEDED = {"lke-claimer": {"token-file": "/token", "cluster-id": "1"},
          "vpsie-claimer": {"credential-dir": "/credential"}, "vip-claimer": {"tls-dir": "/tls"}}
RULE = re.compile(r'  - apiGroups: \["(.*)"\]\n    resources: \["(.*)"\]\n    verbs: \[(.*)\]\n')


def main():
    files = dict(generated())
    wrong = [file for file, text in files.items() if not file.exists() or file.read_text() != text]
    if "--check" in sys.argv:
        for file in wrong:
            print(f"{file.relative_to(DEPLOY.parent)} differs: run deploy/generate.py")
        sys.exit(1 if wrong else 0)
    for file in wrong:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(files[file])
        print(f"wrote {file.relative_to(DEPLOY.parent)}")


def generated():
    yield DEPLOY / "rbac.yaml", muster("--print-rbac")
    for config in sorted(DEPLOY.glob("kustomize/*/**/muster.yaml")):
        yield config.with_name("rbac.yaml"), muster("--print-rbac", config)
    sections = settings()
    for actor in sections:
        if actor != "supervisor":
            yield CHART / "rights" / f"{actor}.yaml", rights_of(actor)
    yield CHART / "values.schema.json", json.dumps(schema(sections), indent=2) + "\n"


def muster(*words):
    done = subprocess.run([str(BIN / "muster"), "check", *map(str, words)], text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"generate.py: muster check {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


# -- rights

def rights_of(actor):
    """Its rules alone, without roles and bindings: group, resource and verbs in three lines each."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        others = "".join(f"  {name}:\n    enabled: false\n" for name in ALWAYS
                         if name != actor and (name != "kube-watcher" or actor == "metrics"))
        section = "".join(f"    {key}: {value}\n" for key, value in {
            "enabled": "true", **NEEDED.get(actor, {})}.items())
        file.write(f"actors:\n  {actor}:\n{section}{others}")
        file.flush()
        printed = muster("--print-rbac", file.name)
    head = (f"# Written by deploy/generate.py: what kube-watcher may do when {actor} is enabled, with the\n"
            "# actors that it needs.\n")
    return head + "".join(rule.group(0)[2:].replace("\n  ", "\n") for rule in RULE.finditer(printed)) or head


# -- the schema of the chart's values

def settings():
    """section -> setting -> (help, what is allowed, the default), from the annotated default file."""
    sections, section, actors, comment = {}, None, False, []
    for line in muster("--print-defaults").splitlines():
        text = line.strip()
        found = re.fullmatch(r"([\w-]+):(?: (.*))?", text)
        if text.startswith("#"):
            comment.append(text[2:])
        elif found and found[2] is None:
            actors |= found[1] == "actors"
            section, comment = found[1], []
        elif found:
            sections.setdefault(section, {})[found[1]] = (comment[0], comment[1].removeprefix("Allowed: "),
                                                          found[2])
            comment = []
        else:
            comment = []
    return sections


def schema(sections):
    supervisor = sections.pop("supervisor")
    actors = {name: closed({key: setting(*row) for key, row in rows.items()}, f"Settings of {name}.")
              for name, rows in sections.items()}
    for name in ALWAYS:         # the one has the credential, the other one answers the probes
        actors[name]["properties"]["enabled"]["const"] = True
    text, flag, table = {"type": "string"}, {"type": "boolean"}, {"type": "object"}
    count = {"type": "integer", "minimum": 0}
    name = {**text, "maxLength": 253}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#", "title": "Values of the chart muster",
        **closed({
            "image": closed({"repository": {**text, "minLength": 1}, "tag": text, "digest": {
                **text, "pattern": "^(sha256:[0-9a-f]{64})?$"},
                "pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]}}),
            "imagePullSecrets": {"type": "array", "items": closed({"name": name})},
            "nameOverride": name, "fullnameOverride": name,
            "replicas": {**count, "minimum": 1, "maximum": 5},
            "supervisor": closed({key: setting(*row) for key, row in supervisor.items()},
                                 "Settings of the process that starts the actors."),
            "actors": closed(actors, "One section per actor; with `enabled: true` it runs."),
            "credentials": closed({actor: {**name, "description": f"Name of the Secret of {actor}."}
                                   for actor in ("lke-claimer", "vpsie-claimer", "vip-claimer")}),
            "aws": closed({"roleArn": {**text, "pattern": "^(arn:[^ ]+)?$"}, "region": text}),
            "serviceAccount": closed({"create": flag, "name": name, "annotations": table}),
            "rbac": closed({"create": flag}),
            "service": closed({"port": {**count, "minimum": 1, "maximum": 65535}}),
            "podDisruptionBudget": closed({"enabled": flag}),
            "networkPolicy": closed({"enabled": flag}),
            "serviceMonitor": closed({"enabled": flag, "interval": {**text, "pattern": "^[0-9]+(ms|s|m)$"},
                                      "labels": table}),
            "prometheusRule": closed({"enabled": flag, "labels": table}),
            "dashboard": closed({"enabled": flag, "labels": table}),
            "resources": table, "priorityClassName": name, "podAnnotations": table, "podLabels": table,
            "nodeSelector": table, "tolerations": {"type": "array"}, "affinity": table,
            "global": table})}


def closed(properties, description=None):
    about = {"description": description} if description else {}
    return {"type": "object", **about, "additionalProperties": False, "properties": properties}


def setting(about, allowed, default):
    """allowed is the sentence of the default file; what is not of these forms is checked by musterd alone."""
    allowed = allowed.rstrip(".")
    found = re.fullmatch(r"a number from (\d+) to (\d+)", allowed)
    if found:
        rule = {"type": "integer", "minimum": int(found[1]), "maximum": int(found[2])}
    elif allowed == "true or false":
        rule = {"type": "boolean"}
    elif allowed.startswith("a duration"):
        rule = {"type": ["string", "integer"], "pattern": "^([0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h))+$|^0$"}
    elif re.fullmatch(r"[\w-]+(, [\w-]+)* or [\w-]+", allowed):
        rule = {"enum": re.split(r", | or ", allowed)}
    else:
        most = re.search(r"at most (\d+) bytes", allowed)
        rule = {"type": "string", **({"maxLength": int(most[1])} if most else {})}
    return {**rule, "description": f"{about} Allowed: {allowed}. Default: {default}"}


if __name__ == "__main__":
    main()
