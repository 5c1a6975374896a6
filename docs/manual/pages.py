#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a manual page for each function and each header, from the XML that doxygen made of the headers. A page tells what its section
of the header says, too, and what the rules of all headers say of its arguments and errors. A function of several releases has the page
of the first XML that has it; in the others, the page of the header tells what differs.
Usage: pages.py FOLDER VERSION SOURCE XML..., where an XML is named xml, that of the current headers, or xml-RELEASE"""
import csv
import glob
import os
import re
import sys
import time
import xml.etree.ElementTree as xml

from wording import Wording, errors_for, plain


def escape(text):
    """As troff takes it: no escapes, no requests at the beginning of a line."""
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return re.sub(r"^([.'])", r'\\&\1', text, flags=re.M)


def line_of(node):
    """Text in one line, with bold and italic words."""
    parts = [escape(node.text or '')]
    for child in node:
        text = line_of(child)
        if child.tag in ('bold', 'computeroutput', 'emphasis'):
            text = ('\\fI' if child.tag == 'emphasis' else '\\fB') + text + '\\fR'
        elif child.tag in ('ndash', 'mdash'):
            text = '\\-'
        parts += [text, escape(child.tail or '')]
    return re.sub(r'\s+', ' ', ''.join(parts))


def flat(node):
    return '' if node is None else line_of(node).strip()


BLOCKS = ('verbatim', 'preformatted', 'programlisting', 'itemizedlist', 'orderedlist', 'table', 'parameterlist', 'simplesect')


def code_of(node):
    lines = [''.join(line.itertext()) for line in node.iter('codeline')] or ''.join(node.itertext()).strip('\n').split('\n')
    return ['.PP', '.in +4n', '.nf', *(escape(line) for line in lines), '.fi', '.in']


def paragraph(node):
    """Lines of a paragraph. What it says of parameters and results has sections of its own."""
    lines, words = [], [escape(node.text or '')]

    def flush():
        text = re.sub(r'\s+', ' ', ''.join(words)).strip()
        words.clear()
        if text:
            lines.extend(['.PP', text])

    for child in node:
        if child.tag in BLOCKS:
            flush()
            if child.tag in ('verbatim', 'preformatted', 'programlisting'):
                lines.extend(code_of(child))
            elif child.tag in ('itemizedlist', 'orderedlist'):
                for item in child.iter('listitem'):
                    lines.extend(['.IP \\(bu 2', ' '.join(flat(para) for para in item.iter('para'))])
            elif child.tag == 'table':
                for row in child.iter('row'):
                    lines.extend(['.PP', ' | '.join(' '.join(flat(para) for para in cell.iter('para')) for cell in row.iter('entry'))])
            elif child.tag == 'simplesect' and child.get('kind') != 'return':
                lines.extend(['.PP', ' '.join(flat(para) for para in child.iter('para'))])
            words.append(escape(child.tail or ''))
        else:
            holder = xml.Element('x')
            holder.append(child)
            words.append(line_of(holder))
    flush()
    return lines


def paragraphs(node):
    lines = []
    for para in [] if node is None else node:
        if para.tag == 'para':
            lines += paragraph(para)
        elif para.tag.startswith('sect'):
            lines += ['.SS ' + flat(para.find('title')), *paragraphs(para)]
    return lines


def listed(nodes, kind):
    """(name, text) of each @param, or @retval."""
    found = []
    for node in nodes:
        for each in [] if node is None else node.iter('parameterlist'):
            if each.get('kind') != kind:
                continue
            for item in each.iter('parameteritem'):
                text = ' '.join(flat(para) for para in item.find('parameterdescription').iter('para'))
                found += [(flat(name), text) for name in item.iter('parametername')]
    return found


def returned(node):
    return [] if node is None else [' '.join(flat(para) for para in each.iter('para'))
                                    for each in node.iter('simplesect') if each.get('kind') == 'return']


def prototype(function):
    arguments = [f'{escape(flat_type(p))}{p.findtext("declname") or ""}{p.findtext("array") or ""}' for p in function.iter('param')]
    if not [argument for argument in arguments if argument.strip() != 'void'] and function.findtext('argsstring') == '(void)':
        arguments = ['void']
    begin = f'{escape(flat_type(function))}{function.findtext("name")}('
    if len(begin + ', '.join(arguments)) < 78:
        return [f'.B {begin}{", ".join(arguments)});']
    return [f'.B {begin}', *(f'.B "    {argument},"' for argument in arguments[:-1]), f'.B "    {arguments[-1]});"']


def flat_type(node):
    kind = re.sub(r'\s+', ' ', ''.join(node.find('type').itertext())).strip()
    kind = re.sub(r'\s*\*', ' *', kind).replace('* *', '**')
    return kind if kind.endswith('*') or not kind else kind + ' '


def first_sentence(*texts):
    """For the line NAME, which no bold or italic word is in."""
    for text in texts:
        text = re.sub(r'\\f.|\\&', '', text).strip()
        if text:
            text = re.split(r'(?<=[a-z0-9)])\. ', text)[0].rstrip('.')
            return text if len(text) < 120 else text[:text.rindex(' ', 0, 116)] + ' ...'
    return ''


def first_text(lines):
    return lines[1] if lines[:1] == ['.PP'] else ''


def head(name, version, release=None):
    date = time.strftime('%Y-%m-%d', time.gmtime(int(os.environ.get('SOURCE_DATE_EPOCH', time.time()))))
    manual = f'DOCA {release}' if release else 'Softfield'
    return [f'.TH {name} 3 "{date}" "Softfield {version}" "{manual}"', '.nh', '.ad l', '.SH NAME']


def write(folder, name, lines):
    lines = [line.rstrip() for before, line in zip(['', *lines], lines) if line != '.PP' or not before.startswith(('.SH', '.SS', '.PP'))]
    with open(os.path.join(folder, name + '.3'), 'w', encoding='utf-8') as stream:
        stream.write('\n'.join(lines) + '\n')


def page_of(header):
    """softfield_gpu.h, of softfield/gpu.h."""
    return header.replace('/', '_')


class Release:
    """The headers of one XML. name is that of an earlier release, or None."""

    def __init__(self, path, source, newer):
        self.path, self.include = path, os.path.join(source, 'include')
        self.name = os.path.basename(path).partition('-')[2] or None
        folders = ['', 'softfield', '../plugins/*'] if not self.name else ['doca-' + self.name]
        self.objects = {**(newer.objects if newer else {}), **objects_of(os.path.join(self.include, folder, '*.h') for folder in folders)}
        self.table = names_of(os.path.join(source, 'docs', 'api', f'legacy-{self.name}.tsv'))

    def compounds(self):
        for path in sorted(glob.glob(os.path.join(self.path, '*_8h.xml')) + glob.glob(os.path.join(self.path, '*_8cuh.xml'))):
            compound = xml.parse(path).getroot().find('compounddef')
            yield compound, re.sub(r'^.*/(?:include|plugins/\w+)/', '', compound.find('location').get('file'))


def names_of(table):
    """Of the API's table of a release; not every release has one."""
    if not os.path.exists(table):
        return set()
    with open(table, newline='', encoding='utf-8') as stream:
        return {row['name'] for row in csv.DictReader(stream, delimiter='\t', quoting=csv.QUOTE_NONE)}


def module_lines(header, release, releases, name=None):
    """Which pkg-config file a program needs, where that is not one of the current release's. name: of a function."""
    plugin = re.fullmatch(r'urom_(\w+)\.h', header)
    if plugin:
        return ['.PP', f'Compile with the flags of urom\\-{plugin[1]}.pc.']
    if not release.name:
        return []
    folder = f'pkgconfig/{release.name}'
    lines = ['.PP', f'Compile with the flags of LIBDIR/{folder}/doca.pc (with the prefix /usr: LIBDIR/softfield/{folder}/doca.pc): '
             'set PKG_CONFIG_PATH to its folder.', '.SH VERSIONS']
    if name:
        having = [other.name for other in releases if other is release or name in other.table]
        return lines + [f'DOCA {" and ".join(having)}. The current release has no function of this name.']
    other = 'another' if os.path.exists(os.path.join(release.include, included(header))) else 'no'
    return lines + [f'DOCA {release.name}. The current release has {other} header of this name.']


def objects_of(patterns):
    """The first words of the comment of each struct: {'doca_dma': 'a DMA context'}."""
    found = {}
    for path in sorted(path for pattern in patterns for path in glob.glob(pattern)):
        with open(path, encoding='utf-8') as stream:
            text = stream.read()
        for comment, name in re.findall(r'/\*\*((?:(?!\*/).)*)\*/\n(?:typedef )?struct (\w+)', text, re.S):
            first = re.match(r'(An?|One) [^:;.,]*', re.sub(r'\s*\n \*\s*', ' ', comment).strip())
            if first:
                found[name] = escape(first[0][0].lower() + first[0][1:].split(' as a ')[0].rstrip())
    return found


# First words of a comment that is no sentence on what the function does, but end like a verb.
NO_VERBS = ('Always', 'As', 'Bits', 'Blocks', 'Buffers', 'Bytes', 'Calls', 'Clients', 'Devices', 'Has', 'Includes', 'Is', 'Kernels', 'Lives',
            'Messages', 'Threads', 'Tasks', 'This', 'Types', 'Units')


def description(function, params, wording):
    """What the function does, as lines: its comment, after a sentence by rule where that begins with no verb."""
    about = paragraphs(function.find('briefdescription')) + paragraphs(function.find('detaileddescription'))
    first = re.match(r'([A-Z][a-z]+s) ', first_text(about))
    if first and first[1] not in NO_VERBS:
        return about
    rule = wording.sentence(function.findtext('name'), flat_type(function), params)
    return (['.PP', rule] if rule else []) + about


def parameter_lines(function, params, documented, wording, gives_error):
    lines = []
    for number, (kind, name) in enumerate(params):
        text = documented.get(name) or wording.argument(function.findtext('name'), kind, name, number == 0, gives_error)
        lines += ['.TP', f'.I {name}', text]
    return ['.SH PARAMETERS', *lines] if lines else []


def result_lines(function, params, comments, wording, gives_error):
    """comments: of the function, the section and the file. Functions for kernels check no pointers."""
    kind = plain(flat_type(function))
    results = [text for node in comments for text in returned(node)]
    if kind == 'void' and not results:
        return []
    lines = ['.SH RETURN VALUE'] + [line for text in results for line in ('.PP', text)]
    if not gives_error:
        return lines if results else lines + ['.PP', wording.result(kind, params)]
    causes = errors_for(function.findtext('name'), [listed([node], 'retval') for node in comments])
    if any('*' in kind for kind, _ in params) and not function.find('location').get('file').endswith('.cuh'):
        causes.setdefault('DOCA_ERROR_INVALID_VALUE', []).append('a pointer is NULL, unless this page allows it')
    lines += ['.TP', '.B DOCA_SUCCESS', 'The call succeeded. On an error, outputs are unchanged.']
    for code, texts in causes.items():
        lines += ['.TP', f'.B {code}', '; or '.join(text for text in texts if text) or 'see above']
    return lines


def function_parts(function, section, compound, wording):
    """What a page says of a function: (description, parameters, results), each as lines."""
    comments = [function.find('detaileddescription'), section.find('description'), compound.find('detaileddescription')]
    params = [(plain(''.join(param.find('type').itertext())) + (param.findtext('array') and ' *' or ''), param.findtext('declname'))
              for param in function.iter('param') if param.findtext('declname')]
    gives_error = flat_type(function).strip() == 'doca_error_t'
    documented = dict(listed([section.find('description'), function.find('detaileddescription')], 'param'))
    return (description(function, params, wording), parameter_lines(function, params, documented, wording, gives_error),
            result_lines(function, params, comments, wording, gives_error))


def function_page(function, section, header, compound, release, releases, version):
    name = function.findtext('name')
    common, title = section.find('description'), section.findtext('header')
    about, parameters, results = function_parts(function, section, compound, Wording(release.objects))
    shared = paragraphs(common)
    what = first_sentence(first_text(about), escape(title or ''), header_summary(compound))
    lines = head(name, version, release.name) + [f'{name} \\- {what}', '.SH SYNOPSIS', '.nf', f'.B #include <{included(header)}>', '.PP',
                                                 *prototype(function), '.fi', *module_lines(header, release, releases, name)]
    if about or shared:
        lines += ['.SH DESCRIPTION', *about]
    if shared:
        lines += [f'.SS {escape(title or "This section of the header")}', *shared]
    return lines + parameters + results + ['.SH SEE ALSO', f'.BR {escape(page_of(header))} (3)']


def included(header):
    """The header as a program names it."""
    return re.sub(r'^doca-[^/]*/', '', header)


def header_summary(compound):
    about = paragraphs(compound.find('briefdescription')) + paragraphs(compound.find('detaileddescription'))
    return first_sentence(first_text(about), 'a header of the DOCA API')


def functions_of(compound):
    """(function, section) of each one, once."""
    found = {}
    for section in compound.iter('sectiondef'):
        for member in section.iter('memberdef'):
            # A template of CUDA C++ has a function's name, and is told with it.
            if member.get('kind') == 'function' and re.match(r'(doca|softfield|urom)_', member.findtext('name')):
                found.setdefault(member.findtext('name'), (member, section))
    return list(found.values())


def header_page(compound, header, release, releases, owners, version):
    """owners: the release of each function's page."""
    functions = functions_of(compound)
    others = [(function, section) for function, section in functions if owners[function.findtext('name')] is not release]
    lines = head(page_of(header), version, release.name) + [
        f'{escape(page_of(header))} \\- {header_summary(compound)}', '.SH SYNOPSIS', f'.B #include <{included(header)}>',
        *module_lines(header, release, releases),
        '.SH DESCRIPTION', *paragraphs(compound.find('briefdescription')), *paragraphs(compound.find('detaileddescription'))]
    if functions:
        lines += ['.SH FUNCTIONS', ', '.join(f'\\fB{function.findtext("name")}\\fR(3)' for function, _ in functions)]
    if others:
        lines += ['.SH DIFFERENCES', 'The pages of these functions describe a later release. This header declares:']
    for function, section in others:
        about, parameters, results = function_parts(function, section, compound, Wording(release.objects))
        lines += ['.SS ' + function.findtext('name'), '.nf', *prototype(function), '.fi', *about,
                  *(line for line in parameters + results if not line.startswith('.SH'))]
    return lines


def main():
    folder, version, source, *folders = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    releases = []
    for path in folders:
        releases.append(Release(path, source, releases[-1] if releases else None))
    owners = {}
    for release in releases:
        for compound, header in release.compounds():
            for function, section in functions_of(compound):
                if owners.setdefault(function.findtext('name'), release) is release:
                    write(folder, function.findtext('name'), function_page(function, section, header, compound, release, releases, version))
            write(folder, page_of(header), header_page(compound, header, release, releases, owners, version))


if __name__ == '__main__':
    main()
