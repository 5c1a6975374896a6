#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes pages for the reference in a browser of the manual pages that doxygen makes no page of: those of programs, and those of
functions and headers of earlier releases. mandoc converts each; pages.dox includes them, a group for the programs and for each release.
Usage: browser.py FOLDER MANDOC MAN1 MAN3"""
import pathlib
import re
import subprocess
import sys

PROGRAMS = 'Programs'


class Page:
    """A manual page. group: PROGRAMS, or the release, as the page's header has it; '' for one of the current headers."""

    def __init__(self, path):
        self.path, self.name, text = path, path.name.rpartition('.')[0], path.read_text(encoding='utf-8')
        self.label = f'man{path.suffix[1:]}_' + re.sub(r'\W', '_', self.name)
        self.what = re.search(r'^\.SH NAME\n.*? \\- (.*)', text, re.M)[1].replace('\\', '')
        release = re.match(r'\.TH .*"(DOCA \S+)"$', text, re.M)
        self.group = PROGRAMS if path.suffix == '.1' else release[1] if release else ''

    def title(self):
        return self.name.replace('-', ' ') if self.group == PROGRAMS else self.name


def quoted(text):
    """As doxygen takes plain text."""
    return re.sub(r'([\\@#<>%&"*`])', r'\\\1', text)


def html(page, mandoc, labels):
    """The page's text, which refers to other pages by links."""
    text = subprocess.run([mandoc, '-T', 'html', '-O', 'fragment', page.path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.sub(r'<b>([\w.-]+)</b>\s?\(([13])\)', lambda found: f'<a href="{labels[found[1]]}.html">{found[0]}</a>'
                  if found[1] in labels else found[0], text)


def group_text(group, pages):
    """A page that lists the group's pages. Those of a program's commands are listed on the program's page."""
    lines = [f'/** @page {label_of(group)} {group}']
    lines += [f'- @subpage {page.label} : {quoted(page.what)}' for page in pages if not parent_of(page, pages)]
    return '\n'.join(lines + ['*/', ''])


def parent_of(page, pages):
    """The page of the program whose command this page describes."""
    return next((other for other in pages if page.group == PROGRAMS and page.name.startswith(other.name + '-')), None)


def label_of(group):
    return re.sub(r'\W', '_', group.lower())


def page_text(page, pages):
    lines = [f'/** @page {page.label} {page.title()}', f'@htmlinclude {page.label}.html']
    lines += [f'- @subpage {other.label} : {quoted(other.what)}' for other in pages if parent_of(other, pages) is page]
    return '\n'.join(lines + ['*/', ''])


def main():
    folder, mandoc, *folders = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    pages = [Page(path) for each in folders for path in sorted(pathlib.Path(each).iterdir())]
    pages = [page for page in pages if page.group]
    labels = {page.name: page.label for page in pages}
    texts = []
    for group in sorted({page.group for page in pages}, key=lambda group: (group == PROGRAMS, group), reverse=True):
        members = [page for page in pages if page.group == group]
        texts += [group_text(group, members)] + [page_text(page, members) for page in members]
        for page in members:
            (folder / (page.label + '.html')).write_text(html(page, mandoc, labels), encoding='utf-8')
    (folder / 'pages.dox').write_text('\n'.join(texts), encoding='utf-8')


if __name__ == '__main__':
    main()
