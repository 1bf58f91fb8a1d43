# SPDX-License-Identifier: Apache-2.0
"""Who has sent a record: children made in every way are told by their own numbers, not by their parent's."""
import csv
import json
import re

from support.paths import victim

PLUGIN = 'dj.on_record(function(r) print("record " .. r.pid .. " " .. r.tid .. " " .. r.text) end)'


def truth(result):
    """By the number that a process gives: its pid and tid, as it says them itself."""
    said = {int(who): (int(pid), int(tid)) for who, pid, tid in re.findall(r"^child (\d+) (\d+) (\d+)$", result.stdout, re.M)}
    assert len(said) == 16 and len({pid for pid, _ in said.values()}) == 14, result
    return said


def test_records_are_their_senders(djtap_once, tmp_path):
    plugin = tmp_path / "who.lua"
    plugin.write_text(PLUGIN)
    result = djtap_once("-f", f"plugin:{plugin}", "-e", 'probe func("work") { printf("%d %d %d", $who, pid(), tid()) }', "-c", victim("senders"))
    records = [tuple(map(int, line)) for line in re.findall(r"^record (\d+) (\d+) (\d+) (\d+) (\d+)$", result.stdout, re.M)]
    assert {who: (pid, tid) for pid, tid, who, _, _ in records} == truth(result), result
    assert len(records) == 16 and all(record[:2] == record[3:] for record in records), result


def test_histograms_and_a_trace_for_perfetto(djtap_once, tmp_path):
    """Each slice stands in the row of its process and thread, whatever is printed first."""
    output = tmp_path / "out"
    script = 'probe func("work") { s <<< $who println(7, " ", $who) print(@hist_log(s)) }'
    result = djtap_once("-f", "plugin:chrome", "-o", str(output), "-e", script, "-c", victim("senders"))
    events = [event for event in json.loads(output.read_text()) if event["ph"] == "B"]
    numbers = [re.match(r"7 (\d+)$", event["args"]["text"]) for event in events]
    assert {int(number[1]): (event["pid"], event["tid"]) for event, number in zip(events, numbers) if number} == truth(result), events
    assert all((a["pid"], a["tid"]) == (b["pid"], b["tid"]) for a, b in zip(events[::2], events[1::2])) and len(events) == 32, events


def test_lines_of_json_and_csv(djtap_once, tmp_path):
    """Both name who has printed: by fields, and in the last two columns."""
    script = 'probe func("work") { printf("who %d", $who) printf("none") } probe end { print("over") }'
    for plugin in ("json", "csv"):
        result = djtap_once("-f", f"plugin:{plugin}", "-o", str(tmp_path / plugin), "-e", script, "-c", victim("senders"))
        said = truth(result)
        lines = (tmp_path / plugin).read_text().splitlines()
        if plugin == "json":
            rows = [(list(map(str, line["args"])) or [line["text"]], line["kind"], line["pid"], line["tid"]) for line in map(json.loads, lines)]
        else:
            rows = [(row[4:-2], row[3], int(row[-2]), int(row[-1])) for row in csv.reader(lines)]
        assert {int(row[0][0]): row[2:] for row in rows if row[0][0].isdigit()} == said, rows
        assert sorted(row[2:] for row in rows if row[0] == ["none"]) == sorted(said.values()), rows
        assert rows[-1] == (["over"], "host", said[1][0], 0) and len(rows) == 33, rows


def test_what_djtap_prints_itself(djtap_once, tmp_path):
    """begin, end and timers: the target's, and no thread of it."""
    plugin = tmp_path / "who.lua"
    plugin.write_text(PLUGIN)
    script = 'probe begin { printf("1") } probe end { printf("2") } probe func("work") { if ($who < 3) printf("3") }'
    result = djtap_once("-f", f"plugin:{plugin}", "-e", script, "-c", victim("senders"))
    target = str(truth(result)[1][0])
    records = re.findall(r"^record (\d+) (\d+) (\d)$", result.stdout, re.M)
    assert records == [(target, tid, text) for tid, text in (("0", "1"), (target, "3"), (target, "3"), ("0", "2"))], result
