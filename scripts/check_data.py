#!/usr/bin/env python3
"""Check data: do numbers of platforms, laws, hosts, networks say their sources?

    check_data.py [DATA-DIR]    [default: data beside this script's folder]

A data-sheet entry has value, unit and source. A fitted cell has how, rows,
errors on rows fitted on and on rows held back, the range of each size and
intervals; what a file has beside its fits is as in datasheets.json. In a host,
a number's own object or one around it has 'source' or 'how'. Names, aliases and devices belong to one platform each; chains of
'base' end. Prints one line a fault; exit code 1 if there is any.
"""

import json
import math
import pathlib
import sys

SHEET = {  # what the models need of any GPU, and its unit
    "fp32_flops": "FLOP/s", "sms": "1", "memory_bytes": "B", "l2_bytes": "B",
    "memory_bandwidth": "B/s", "kernel_floor_us": "us",
    "pcie_bandwidth": "B/s", "pageable_bandwidth": "B/s",
    "link_bandwidth": "B/s", "network_bandwidth": "B/s",
    "trace_factor": "1",
}
REQUIRED = ("a100", "a100-40gb", "a100-pcie-40gb", "v100", "v100-pcie", "t4",
            "l40s", "h100", "h200", "b200", "a100-pcie-80gb", "gb200",
            "rtx-pro-6000", "a40", "p100", "p4", "mi100", "mi210", "mi300x",
            "b300", "gb300", "l4", "rtx-2080ti", "rtx-4090")
NETWORK = {"card_rate": "B/s", "cards_per_node": "1", "gpus_per_node": "1",
           "latency_us": "us"}
UNITS = {"FLOP/s", "op/s", "B/s", "B", "Hz", "W", "us", "1"}

faults = []


def fault(where, text):
    faults.append(f"{where}: {text}")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) \
        and math.isfinite(value)


def is_text(value):
    return isinstance(value, str) and value.strip() != ""


def load(path):
    def no_constant(text):
        raise ValueError(f"{text} is no JSON")

    def unique(pairs):
        keys = [key for key, _ in pairs]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"two values for '{key}'")
        return dict(pairs)

    try:
        return json.loads(path.read_text(), parse_constant=no_constant,
                          object_pairs_hook=unique)
    except (ValueError, OSError) as error:
        fault(path, str(error))
        return None


def check_sheet(where, sheet):
    for key, unit in SHEET.items():
        if key not in sheet:
            fault(where, f"no '{key}' in the data sheet")
        elif sheet[key].get("unit") != unit:
            fault(where, f"'{key}' has unit '{sheet[key].get('unit')}', "
                         f"want '{unit}'")
    for key, entry in sheet.items():
        if key in ("links", "libraries"): # words, no figures
            continue
        if not is_text(entry.get("source")):
            fault(where, f"'{key}' has no source")
        if key == "bf16_flops" and entry.get("value") == 0:
            pass  # the GPU has no units for it
        elif not is_number(entry.get("value")) or entry["value"] <= 0:
            fault(where, f"'{key}' is {entry.get('value')}, want above 0")
        if entry.get("unit") not in UNITS:
            fault(where, f"'{key}' has unit '{entry.get('unit')}'")


def check_devices(where, devices):
    for device in devices:
        low, high = device.get("memory_from"), device.get("memory_to")
        if not is_text(device.get("name")):
            fault(where, "a device without a name")
        if not (is_number(low) and is_number(high) and 0 < low < high):
            fault(where, f"device '{device.get('name')}': no memory range")
        if not is_number(device.get("sms")):
            fault(where, f"device '{device.get('name')}': no SM count")


def check_parameters(where, parameters):
    for name, entry in parameters.items():
        if not is_number(entry.get("value")):
            fault(where, f"parameter '{name}' has no value")
        if not is_text(entry.get("unit")):
            fault(where, f"parameter '{name}' has no unit")
        if not (is_text(entry.get("how")) or is_text(entry.get("source"))):
            fault(where, f"parameter '{name}' does not say where it is from")


def check_cell(where, cell):
    for key in ("law", "framework", "key", "table_gpu", "how"):
        if not is_text(cell.get(key)):
            fault(where, f"no '{key}'")
    if not (is_number(cell.get("rows")) and cell["rows"] >= 20):
        fault(where, f"{cell.get('rows')} rows, want 20 at least")
    for key in ("error_fitted", "error_held_back"):
        if not (is_number(cell.get(key)) and cell[key] >= 0):
            fault(where, f"'{key}' is {cell.get(key)}, want a residual")
    for name, entry in cell.get("constants", {}).items():
        if not (is_number(entry.get("value")) and entry["value"] >= 0):
            fault(where, f"constant '{name}' is {entry.get('value')}")
        if not is_text(entry.get("unit")):
            fault(where, f"constant '{name}' has no unit")
    if not cell.get("constants"):
        fault(where, "no constants")
    for name, ends in cell.get("range", {}).items():
        if len(ends) != 2 or not ends[0] <= ends[1]:
            fault(where, f"range of '{name}' is {ends}")
    if not cell.get("range"):
        fault(where, "no fitted range")
    check_interval(where, cell.get("interval", []))
    for curve in cell.get("curves", []):
        check_curve(f"{where}, {curve.get('collective')} of "
                    f"{curve.get('ranks')} ranks", curve)
    for log in cell.get("logs", []):
        if not is_text(log.get("setting")) or "misconfigured" not in log:
            fault(where, f"log {log} does not say what it is")


def check_curve(where, curve):
    columns = [curve.get(key, []) for key in ("bytes", "us", "spread")]
    if not columns[0] or len({len(c) for c in columns}) != 1:
        fault(where, "bytes, us and spread are not alike in number")
    if not all(is_number(v) and v > 0 for c in columns for v in c):
        fault(where, "a point is not above 0")
    if columns[0] != sorted(set(columns[0])):
        fault(where, "bytes do not rise")
    if curve.get("measured") not in (True, False):
        fault(where, "does not say whether it is measured")


def check_network(path, data):
    if data.get("name") != path.stem:
        fault(path, f"is called '{data.get('name')}', want '{path.stem}'")
    if not is_text(data.get("title")):
        fault(path, "no 'title'")
    check_parameters(path, data.get("parameters", {}))
    for key, unit in NETWORK.items():
        entry = data.get("parameters", {}).get(key, {})
        if not is_number(entry.get("value")) or entry["value"] <= 0:
            fault(path, f"'{key}' is {entry.get('value')}, want above 0")
        if entry.get("unit") != unit:
            fault(path, f"'{key}' has unit '{entry.get('unit')}', "
                        f"want '{unit}'")


def check_interval(where, bins):
    if not bins or "upto_us" in bins[-1]:
        fault(where, "no interval for the longest times")
    before = 0
    for entry in bins:
        low, high = entry.get("low"), entry.get("high")
        if not (is_number(low) and is_number(high) and low < high):
            fault(where, f"interval {low} to {high}")
        if entry.get("upto_us", math.inf) <= before:
            fault(where, "the bins of the interval are not in order")
        before = entry.get("upto_us", math.inf)


def check_platform(path, data):
    if data.get("name") != path.stem:
        fault(path, f"is called '{data.get('name')}', want '{path.stem}'")
    for key in ("title", "generation"):
        if not is_text(data.get(key)):
            fault(path, f"no '{key}'")
    check_sheet(path, data.get("data_sheet", {}))
    check_devices(path, data.get("devices", []))
    check_parameters(path, data.get("parameters", {}))
    seen = set()
    for cell in data.get("cells", []):
        name = "/".join(str(cell.get(k))
                        for k in ("law", "framework", "key", "table_gpu"))
        if name in seen:
            fault(path, f"two cells '{name}'")
        seen.add(name)
        check_cell(f"{path}: cell '{name}'", cell)


def check_laws(path, data):
    for law, entry in data.get("spreads", {}).items():
        if not is_text(entry.get("how")):
            fault(path, f"the spread of '{law}' does not say how it was made")
        for key in ("generation", "other", "rows_generation", "rows_other"):
            if not (is_number(entry.get(key)) and entry[key] >= 0):
                fault(path, f"the spread of '{law}': '{key}' is "
                            f"{entry.get(key)}")
    for cell in data.get("cells", []):
        name = "/".join(str(cell.get(k)) for k in ("law", "framework", "key"))
        check_cell(f"{path}: cell '{name}'", cell)
        if len(cell.get("gpus", [])) < 2 or "forest" in cell:
            fault(path, f"cell '{name}' is not common to several GPUs")


def check_jobs(path, data):
    if not (is_text(data.get("how")) and data.get("groups")):
        fault(path, "does not say how and on which groups it was fitted")
    entries = [("machine", data.get("machine", {}), ("slower", "faster"))]
    entries += [(name, entry, ("log_sd",))
                for name, entry in data.get("families", {}).items()]
    for name, entry, keys in entries:
        for key in keys + ("groups",):
            if not (is_number(entry.get(key)) and entry[key] >= 0):
                fault(path, f"'{name}': '{key}' is {entry.get(key)}")


def check_names(platforms):
    """Each name means one platform; each chain of bases ends."""
    owner = {}
    for name, data in platforms.items():
        for alias in [name] + data.get("aliases", []):
            other = owner.setdefault(alias.lower(), name)
            if other != name:
                fault(name, f"alias '{alias}' is '{other}' too")
    devices = {}
    for name, data in platforms.items():
        for d in data.get("devices", []):
            key = (str(d.get("name")).lower(), d.get("sms"))
            for other, low, high in devices.get(key, []):
                if other != name and d["memory_from"] <= high and \
                        low <= d["memory_to"]:
                    fault(name, f"device '{d['name']}' is '{other}' too")
            devices.setdefault(key, []).append(
                (name, d.get("memory_from"), d.get("memory_to")))
    for name in platforms:
        chain = [name]
        while base := platforms[chain[-1]].get("base"):
            if base not in platforms:
                fault(name, f"is based on '{base}', which is not there")
                break
            if base in chain:
                fault(name, "is based on itself: " + " on ".join(chain))
                break
            chain.append(base)
    for name in REQUIRED:
        if name not in platforms:
            fault("platforms", f"no '{name}'")


def check_host(path, data):
    if data.get("name") != path.stem:
        fault(path, f"is called '{data.get('name')}', want '{path.stem}'")

    def walk(value, where, known):
        if isinstance(value, dict):
            known = known or is_text(value.get("source")) \
                or is_text(value.get("how"))
            for key, inner in value.items():
                walk(inner, f"{where}.{key}" if where else key, known)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, where, known)
        elif isinstance(value, (int, float)) and not known:
            fault(path, f"'{where}' does not say where it is from")

    walk(data, "", False)


def check_collectives(path, data):
    """Constants that fits of collectives are made with."""
    for part in ("covariance", "intervals"):
        for key in ("what", "how", "rows", "command", "date"):
            if not is_text(data.get(part, {}).get(key)):
                fault(path, f"'{part}' has no '{key}'")
    fabrics = data.get("covariance", {}).get("fabrics", {})
    for name in ("switched", "pcie", "network"):
        fabric = fabrics.get(name, {})
        for key in ("points", "log_likelihood", "noise"):
            if not is_number(fabric.get(key)):
                fault(path, f"fabric '{name}' has no '{key}'")
    for name, entry in data.get("intervals", {}).get("weights", {}).items():
        if not (is_number(entry.get("value")) and entry["value"] > 0):
            fault(path, f"weight '{name}' is {entry.get('value')}")
        if not (is_text(entry.get("unit")) and is_text(entry.get("what"))):
            fault(path, f"weight '{name}' does not say what it is")


def check_facts(path, platforms):
    """What a file says beside its fits is what msim-fit would write it from."""
    written = {"schema", "parameters", "cells", "tables"}
    sheets = {sheet.get("name"): sheet
              for sheet in (load(path) or {}).get("platforms", [])}
    for name, data in platforms.items():
        if name not in sheets:
            fault(name, f"no facts in {path.name}")
            continue
        sheet = sheets[name]
        for member in (data.keys() | sheet.keys()) - written:
            if data.get(member) != sheet.get(member):
                fault(f"{name}.{member}", f"not as in {path.name}, from which "
                      "msim-fit writes the file again")


def main(argv):
    root = pathlib.Path(argv[1]) if len(argv) > 1 else \
        pathlib.Path(__file__).resolve().parent.parent / "data"
    platforms = {}
    for path in sorted((root / "platforms").glob("*.json")):
        data = load(path)
        if isinstance(data, dict):
            platforms[path.stem] = data
            check_platform(path, data)
    check_names(platforms)
    check_facts(root / "platforms" / "src" / "datasheets.json", platforms)
    laws = load(root / "laws" / "common.json")
    if isinstance(laws, dict):
        check_laws(root / "laws" / "common.json", laws)
    jobs = load(root / "laws" / "jobs.json")
    if isinstance(jobs, dict):
        check_jobs(root / "laws" / "jobs.json", jobs)
    collectives = load(root / "laws" / "collectives.json")
    if isinstance(collectives, dict):
        check_collectives(root / "laws" / "collectives.json", collectives)
    hosts = sorted((root / "hosts").glob("*.json"))
    for path in hosts:
        data = load(path)
        if isinstance(data, dict):
            check_host(path, data)
    if not any(path.stem == "generic" for path in hosts):
        fault("hosts", "no 'generic'")
    networks = sorted((root / "networks").glob("*.json"))
    for path in networks:
        data = load(path)
        if isinstance(data, dict):
            check_network(path, data)
    for text in faults:
        print(text, file=sys.stderr)
    cells = sum(len(p.get("cells", [])) for p in platforms.values())
    print(f"data: {len(platforms)} platforms, {cells} cells, "
          f"{len(hosts)} hosts, {len(networks)} networks, "
          f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
