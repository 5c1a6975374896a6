#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a timeline as Perfetto would, with protoc as the parser. As a program it checks what holds for every timeline, and prints
its contents as JSON. Usage: perfetto.py PROTOC FILE"""
import json
import os
import re
import subprocess
import sys

TOKEN = re.compile(r'\s*(\w+)(?: \{|: (?:"((?:[^"\\]|\\.)*)"|(\S+)))$')


def message(lines):
    """One message in protoc's text format; its fields are lists."""
    fields = {}
    for line in lines:
        if line.strip() == '}':
            break
        match = TOKEN.match(line)
        assert match, f'an unknown field: {line.strip()}'
        name, text, value = match.groups()
        if line.endswith('{'):
            value = message(lines)
        elif text is not None:
            value = text
        elif re.fullmatch(r'\d+', value):
            value = int(value)
        fields.setdefault(name, []).append(value)
    return fields


def packets(protoc, path):
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(path, 'rb') as trace:
        text = subprocess.run([protoc, '--decode=Trace', f'-I{folder}', f'{folder}/perfetto.proto'], stdin=trace,
                              stdout=subprocess.PIPE, check=True).stdout.decode()
    return message(iter(text.splitlines())).get('packet', [])


class Timeline:
    """Tracks by number, and events in order: (ns, type, track, name, flow)."""

    def __init__(self, protoc, path):
        self.tracks, self.events, self.clocks = {}, [], []
        for packet in packets(protoc, path):
            assert packet['trusted_packet_sequence_id'] == [1]
            if 'track_descriptor' in packet:
                track = packet['track_descriptor'][0]
                assert track['uuid'][0] not in self.tracks, 'a track is described twice'
                self.tracks[track['uuid'][0]] = track
            elif 'track_event' in packet:
                event = packet['track_event'][0]
                assert packet['timestamp_clock_id'] == [3]
                self.events.append((packet['timestamp'][0], event['type'][0], event['track_uuid'][0],
                                    event.get('name', [None])[0], event.get('flow_ids', [0])[0]))
            else:
                self.clocks.append(packet['clock_snapshot'][0])

    def process_of(self, track):
        track = self.tracks[track]
        while 'process' not in track:
            track = self.tracks[track['parent_uuid'][0]]
        return track['process'][0]['pid'][0]

    def check(self):
        """Checks that times increase, tracks are known, and ends have beginnings. Returns the number of slices that are open at the end."""
        open_slices, last = {}, 0
        assert len(self.clocks) == 1 and {c['clock_id'][0] for c in self.clocks[0]['clocks']} == {3, 6}
        for ns, kind, track, name, _ in self.events:
            assert ns >= last, 'time goes back'
            last = ns
            assert self.process_of(track) > 0
            assert (name is None) == (kind == 'END'), 'an event without a name'
            open_slices[track] = open_slices.get(track, 0) + {'BEGIN': 1, 'END': -1, 'INSTANT': 0}[kind]
            assert open_slices[track] >= 0, f'an end without a beginning on {self.tracks[track]}'
            if 'thread' not in self.tracks[track]:
                assert open_slices[track] <= 1, f'two tasks at a time on {self.tracks[track]}'
        return sum(open_slices.values())

    def flows(self):
        """The steps of each message's flow, in order: (name, process)."""
        flows = {}
        for _, _, track, name, flow in self.events:
            if flow:
                flows.setdefault(flow, []).append((name, self.process_of(track)))
        return flows


def main():
    timeline = Timeline(sys.argv[1], sys.argv[2])
    is_open = timeline.check()
    threads = [track['thread'][0]['thread_name'][0] for track in timeline.tracks.values() if 'thread' in track]
    names = {}
    for _, kind, _, name, _ in timeline.events:
        if name:
            names[f'{kind} {name}'] = names.get(f'{kind} {name}', 0) + 1
    print(json.dumps({
        'processes': sorted(track['process'][0]['pid'][0] for track in timeline.tracks.values() if 'process' in track),
        'threads': sorted(threads), 'open': is_open, 'names': names,
        'flows': [{'steps': [step for step, _ in steps], 'processes': len({pid for _, pid in steps})}
                  for steps in timeline.flows().values()]}))


if __name__ == '__main__':
    main()
