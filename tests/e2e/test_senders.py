# SPDX-License-Identifier: Apache-2.0
"""Who has sent a record: children made in every way are told by their own numbers, not by their parent's."""
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


def test_what_djtap_prints_itself(djtap_once, tmp_path):
    """begin, end and timers: the target's, and no thread of it."""
    plugin = tmp_path / "who.lua"
    plugin.write_text(PLUGIN)
    script = 'probe begin { printf("1") } probe end { printf("2") } probe func("work") { if ($who < 3) printf("3") }'
    result = djtap_once("-f", f"plugin:{plugin}", "-e", script, "-c", victim("senders"))
    target = str(truth(result)[1][0])
    records = re.findall(r"^record (\d+) (\d+) (\d)$", result.stdout, re.M)
    assert records == [(target, tid, text) for tid, text in (("0", "1"), (target, "3"), (target, "3"), ("0", "2"))], result
