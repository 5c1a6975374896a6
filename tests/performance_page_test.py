#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/performance.md has the table that bench/results make, a section for each row, and benchmarks that exist; and a result that is
not to be kept is refused. Usage: performance_page_test.py ROOT"""
import copy
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(ROOT, 'bench'))
import rows_machine  # noqa: E402
import rows_page  # noqa: E402
import rows_table  # noqa: E402

MACHINE = {'cpu': 'Example(R) CPU 7 @ 2 GHz', 'cpus': 2, 'sockets': 1, 'gpu': None, 'kernel': '6.1', 'hypervisor': False}
NAME = '2030-01-02-example-7-2-cpus.json'


def figure(name, unit, numbers, peers=None):
    middle = sorted(numbers)[len(numbers) // 2]
    found = {'name': name, 'unit': unit, 'value': middle, 'all': numbers}
    return found if peers is None else found | {'peer_value': sorted(peers)[len(peers) // 2], 'peer_all': peers}


def result(date, calls):
    """Of the sync event's row: calls of so many ns beside a line of 50."""
    return {'format': rows_page.FORMAT, 'date': date, 'machine': MACHINE, 'origin': {'commit': '0123456789ab', 'build_type': 'release'},
            'command': 'bench/rows.py', 'trial': False,
            'rows': [{'row': 'sync-event', 'ran': True, 'runs': 3, 'busy_share': 0.01, 'commands': ['bench'],
                      'figures': [figure('set and wait by calls', 'ns', [calls - 1, calls, calls + 9], [49, 50, 51])]},
                     {'row': 'thread-rate', 'ran': False, 'why': 'there is no NVIDIA GPU here'}]}


def refused(found, name=NAME):
    try:
        rows_page.check(found, name)
    except rows_page.Bad:
        return True
    return False


def page_is_generated():
    page = rows_machine.read(rows_page.PAGE)
    assert rows_page.with_table(page, rows_page.table(rows_page.load(rows_page.RESULTS))) == page, 'bench/rows.py --page writes the table'


def page_has_a_section_for_each_row():
    sections = re.findall(r'^### (\S+)$', rows_machine.read(rows_page.PAGE), re.M)
    assert sections == [row.name for row in rows_table.ROWS], sections


def rows_name_benchmarks_that_exist():
    for program in [program for row in rows_table.ROWS for program in row.programs] + [*rows_machine.PROGRAMS, rows_machine.PLUGIN]:
        folder, name = os.path.split(os.path.join(ROOT, program))
        script = os.path.exists(os.path.join(folder, name))
        while not script and not os.path.exists(os.path.join(folder, 'meson.build')):
            folder = os.path.dirname(folder)
        assert script or f"'{name.removesuffix('.so')}'" in rows_machine.read(os.path.join(folder, 'meson.build')), f'{program} is no benchmark'
    assert all(row.programs for row in rows_table.ROWS)


def scripts_that_rows_need_are_packed():
    for row in rows_table.ROWS:
        for program in row.programs:
            known = program in (*rows_machine.PROGRAMS, rows_machine.PLUGIN) or os.path.relpath(program, 'bench') in rows_machine.SCRIPTS
            assert known, f'{program} of {row.name} is not packed'


def newest_result_of_a_machine_is_shown():
    with tempfile.TemporaryDirectory() as folder:
        for date, calls in (('2030-01-02T00:00:00Z', 60), ('2030-02-03T00:00:00Z', 100)):
            with open(os.path.join(folder, NAME.replace('2030-01-02', date[:10])), 'w', encoding='utf-8') as file:
                json.dump(result(date, calls), file)
        older, newer = rows_page.load(folder)
    assert '60 ns | a bare cache line: 50 ns | 1.20 | at most 1.5 of a bare cache line | yes | A, 2030-01-02' in rows_page.table([older])
    both = rows_page.table([older, newer])
    assert '100 ns | a bare cache line: 50 ns | 2.00 | at most 1.5 of a bare cache line | no | A, 2030-02-03' in both
    assert '2030-01-02' not in both, 'an older result is shown'
    assert both.count('not measured') == rows_page.table([]).count('not measured') - 1


def verdicts_say_what_no_number_tells():
    words = {None: '', True: 'yes', False: 'no'}
    row = next(row for row in rows_table.ROWS if row.unchecked)
    assert [row.verdict(words, reached) for reached in (None, True, False)] == ['', 'yes, by number', 'no']
    assert f'By number, [{row.name}](#{row.name}): {row.unchecked}.' in rows_page.table([])


def results_that_are_not_to_be_kept_are_refused():
    good = result('2030-01-02T00:00:00Z', 60)
    assert not refused(good)
    assert refused(good, 'other.json')
    for change in (lambda r: r.update(trial=True), lambda r: r.update(format=0), lambda r: r.update(rows=[]), lambda r: r.update(date='today'),
                   lambda r: r['origin'].update(commit='unknown'), lambda r: r['origin'].update(changed=True),
                   lambda r: r['machine'].pop('kernel'), lambda r: r['rows'].append(r['rows'][0]), lambda r: r['rows'][0].update(row='none'),
                   lambda r: r['rows'][0].update(runs=2), lambda r: r['rows'][0].update(busy_share=0.5),
                   lambda r: r['rows'][0].update(figures=[]), lambda r: r['rows'][0]['figures'][0].update(value=1),
                   lambda r: r['rows'][0]['figures'][0].update(peer_value=1), lambda r: r['rows'][0]['figures'][0].pop('peer_all'),
                   lambda r: r['rows'][0]['figures'][0].update(unit='us'), lambda r: r['rows'][0]['figures'][0].update(name='none'),
                   lambda r: r['rows'][0]['figures'][0].update(all=[60]), lambda r: r['rows'][0]['figures'][0].update(all=[0, 60, 61]), lambda r: r['rows'][1].update(ran=True),
                   lambda r: r['rows'][1].pop('why')):
        bad = copy.deepcopy(good)
        change(bad)
        assert refused(bad), json.dumps(bad)


def text_of_a_benchmark_is_read_strictly():
    assert rows_table.line('a: 1.5 GB/s\nb: 2 GB/s\n', r'^a: ([\d.]+) GB/s', 'bench') == [1.5]
    for text in ('', 'a: 1.5 GB/s\na: 2 GB/s\n', 'a: 1.5 MB/s\n'):
        try:
            rows_table.line(text, r'^a: ([\d.]+) GB/s', 'bench')
        except rows_table.Failed:
            continue
        raise AssertionError(text)


def main():
    tests = (page_is_generated, page_has_a_section_for_each_row, rows_name_benchmarks_that_exist, scripts_that_rows_need_are_packed,
             newest_result_of_a_machine_is_shown, verdicts_say_what_no_number_tells, results_that_are_not_to_be_kept_are_refused, text_of_a_benchmark_is_read_strictly)
    failed = 0
    for test in tests:
        try:
            test()
        except (AssertionError, rows_page.Bad) as error:
            failed += 1
            print(f'FAILED: {test.__name__}: {error}')
    print(f'{len(tests) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
