# SPDX-License-Identifier: BSD-3-Clause
"""What the page of a function says that its own comment leaves to the rules of doca_error.h and doca_pe.h: those of tasks and
contexts, of arguments by their type, and of errors that a header lists for functions of some names."""
import fnmatch
import re

LONG = {
    'aad': 'AAD', 'addr': 'address', 'addrs': 'addresses', 'adler': 'Adler', 'aes': 'AES', 'args': 'arguments', 'arr': 'array',
    'buf': 'buffer', 'bufs': 'buffers', 'cap': 'capability', 'cb': 'callback', 'cmd': 'command', 'cmp': 'compare', 'cnt': 'count',
    'comp': 'completion', 'conf': 'configuration', 'conn': 'connection', 'cpuset': 'set of CPUs', 'crc': 'CRC', 'ctx': 'context',
    'curr': 'current', 'desc': 'description', 'dev': 'device', 'devinfo': 'device', 'devs': 'devices', 'dma': 'DMA', 'dpa': 'DPA',
    'dst': 'destination', 'ec': 'erasure coding', 'elem': 'elements', 'eq': 'equality', 'eus': 'execution units',
    'fd': 'file descriptor', 'fptr': 'open file', 'func': 'function', 'gcm': 'GCM', 'gid': 'GID', 'gpu': 'GPU', 'grh': 'GRH',
    'idx': 'index', 'iface': 'interface', 'imm': 'immediate', 'inc': 'increment', 'info': 'information', 'inl': 'inline',
    'inv': 'inventory', 'ipv4': 'IPv4', 'ipv6': 'IPv6', 'iv': 'IV', 'len': 'length', 'lid': 'LID', 'lz4': 'LZ4', 'mac': 'MAC',
    'max': 'largest', 'memptr': 'memory at the', 'min': 'smallest', 'mkey': 'memory key', 'mmap': 'memory map', 'msg': 'message',
    'mtu': 'MTU', 'nb': 'number of', 'neq': 'inequality', 'net': 'network', 'num': 'number of', 'oob': 'out-of-band',
    'ops': 'operations', 'pci': 'PCI', 'pe': 'progress engine', 'pf': 'PF', 'pid': 'process id', 'pkey': 'partition key',
    'ptr': 'pointer', 'qp': 'queue pair', 'rdma': 'RDMA', 'rdnc': 'redundancy', 'recv': 'receive', 'rep': 'representor',
    'repr': 'representor', 'ret': 'returned', 'se': 'sync event', 'sev': 'severity', 'sf': 'SF', 'sgid': 'GID', 'sha': 'SHA',
    'sig': 'signal', 'sl': 'service level', 'src': 'source', 'str': 'text', 'swp': 'swap', 'sz': 'size', 'ts': 'time',
    'urom': 'UROM', 'val': 'value', 'vf': 'VF', 'vfs': 'VFs', 'vhca': 'VHCA', 'vuid': 'VUID',
}
# By the end of the name; the first that fits. {object} is what the function works on, {rest} the words behind set, get or is.
SENTENCES = (
    (r'_as_(?:doca_)?ctx$', 'Gives the context of {object}, for the functions of doca_ctx.h. It lives as long as the object.'),
    (r'_as_(?:doca_)?task$', 'Gives the struct doca_task of {object}, for the functions of doca_pe.h. It lives as long as the task.'),
    (r'_set_conf$', 'Sets the callbacks for success and failure of these tasks, and how many can be allocated. The last call counts.'),
    (r'_(?:alloc|allocate)(?:_init)?$', 'Allocates {made}. The context must be RUNNING. doca_task_free() frees the task; its buffers stay '
     'the program\'s.'),
    (r'_cap_(?:\w+_)?(is_\w*supported)$', 'Tells whether a device supports it: {answer}.'),
    (r'_is_\w*supported$', 'Tells whether it is supported: {answer}.'),
    (r'_cap_(?:\w+_)?get_(\w+)$', 'Gives a limit of a device: the {rest}.'),
    (r'_task_\w*?_get_(\w+)$', 'Gives the {rest} of {object}.'),
    (r'_task_\w*?_set_(\w+)$', 'Sets the {rest} of {object}, which must not be in flight.'),
    (r'_is_(\w+)$', 'Tells whether {object} is {rest}: 1 or 0.'),
    (r'_add_(publisher|subscriber)_location_(\w+)$', 'Adds a {rest} location to {object}, before it is started.'),
    (r'_(?:get|peek_at)_(\w+)$', 'Gives the {rest} of {object}.'),
    (r'_set_(\w+)$', 'Sets the {rest} of {object}.'),
    (r'_get$', 'Gives the value of {object}.'),
    (r'_wait_(gt|eq|neq)(?:_yield)?$', 'Waits until the value of {object}, masked, {rest} another.'),
    (r'_create(?:_\w+)?$', 'Creates {made}.'),
    (r'_destroy(?:_\w+)?$', 'Destroys {object}.'),
    (r'_start$', 'Starts {object}.'),
    (r'_stop$', 'Stops {object}.'),
    (r'_release$', 'Gives {object} back, which must not be in flight.'),
    (r'_register$', 'Registers the callbacks of an event.'),
    (r'_dpa_completion_attach$', 'Attaches a DPA\'s completion context to {object}.'),
    (r'_dev_rdma_(write|read|send)(?:_inline)?_(weak|strong)$', 'Posts a {rest} operation from a kernel.'),
)
WAITS = {'gt': 'is above', 'eq': 'equals', 'neq': 'differs from'}
PATTERNS = re.compile(r'((?:[\w*]*[_*][\w*]*)(?:,\s+[\w*]*[_*][\w*]*)*):\s+(.*)', re.S)


def words(name):
    """max_buf_list_len: largest buffer list length."""
    text = ' '.join(LONG.get(word, word) for word in name.split('_') if word)
    return text.replace('number of of ', 'number of ')


def plain(kind):
    return re.sub(r'\s+', ' ', kind).strip()


def struct_of(kind):
    found = re.search(r'\b(?:struct|union|enum)? ?(doca_\w+|softfield_\w+|urom_\w+)', kind)
    return found[1] if found else ''


class Wording:
    def __init__(self, objects):
        self.objects = objects # the first words of the comment of each struct, such as "a DMA context"

    def object_of(self, kind):
        name = struct_of(kind)
        return self.objects.get(name) or 'the ' + words(re.sub(r'^(doca|softfield)_|_t$', '', name)) if name else 'the object'

    def sentence(self, name, result, params):
        """For a function without a comment of its own. params: (type, name). None: no rule fits."""
        first = self.object_of(params[0][0]) if params else 'the object'
        made = self.object_of(params[-1][0]) if params else 'an object'
        fill = any('uint8_t *' in kind for kind, _ in params) or result.startswith('uint8_t') or 'bool' in result
        for pattern, text in SENTENCES:
            found = re.search(pattern, name)
            if found:
                last = found.group(found.lastindex) if found.lastindex else ''
                rest = WAITS.get(last) or words(re.sub(r'_is_supported$', '', last))
                if found.lastindex == 2:
                    rest = ' '.join(words(group) for group in found.groups()[:2] if group)
                return text.format(object=first, made=made, rest=rest,
                                   answer='1 or 0' if fill else 'DOCA_SUCCESS, or DOCA_ERROR_NOT_SUPPORTED')
        return None

    def argument(self, function, kind, name, is_first, gives_error):
        kind = plain(kind)
        stars, constant = kind.count('*'), kind.startswith('const ')
        if re.search(r'_(cb|callback|handler|finished)(_t)?$', kind) or '(*' in kind or re.search(r'(_cb|_callback|^cb|^handler)$', name):
            if re.search(r'err|fail', name):
                return 'called when a task has failed'
            return 'called when a task has succeeded' if re.search(r'compl|succ', name) else 'the function to call'
        if name == 'devinfo' and constant:
            return 'a device of doca_devinfo_create_list(), or of an open device'
        if kind == 'union doca_data':
            return 'for the callbacks, which get it' if 'user_data' in name else 'the new value'
        if struct_of(kind) in self.objects and not kind.startswith('enum'):
            if stars >= 2 or (stars == 1 and not constant and not is_first and gives_error and '_get_' in function):
                return 'output: ' + self.object_of(kind)
            text = self.object_of(kind)
            return text if is_first or words(name) in text else words(name) + ': ' + text
        what = words(name)
        if re.search(r'(^|_)(len|length|size|sz|offset)$', name) and not re.search(r'list|queue|array|table|num', name):
            what += ', in bytes'
        of_enum = re.search(r'enum (\w+)', kind)
        if of_enum and not stars:
            return f'the {what}: a value of enum {of_enum[1]}'
        if kind == 'uint8_t *' and re.match(r'(is|has|are)_|\w+_(supported|enabled)$', name):
            return 'output: 1 for yes, 0 for no'
        if stars and not constant and gives_error and not is_first and 'void *' != kind and 'char *' != kind:
            return 'output: the ' + what
        if re.search(r'^(num|nb)_\w*tasks$|^log_num_tasks$', name):
            return 'how many tasks can be allocated' + (', as a logarithm to base 2' if name.startswith('log') else '')
        if constant and 'char *' in kind:
            return 'the ' + words(name) + ', a text that ends with NUL'
        return 'the ' + what

    @staticmethod
    def result(kind, params):
        """For a function that returns no doca_error_t and says nothing of what it returns."""
        if not params:
            return 'The value.'
        return f'The value, or {"NULL" if "*" in kind else "0"} if the object is NULL.'


def errors_for(name, lists):
    """(code, cause) for this function, of lists of (code, text); in the second and later ones, which other functions share, a text may
    begin with the names that it is for."""
    causes = {}
    for shared, pairs in enumerate(lists):
        for code, text in pairs:
            found = PATTERNS.match(text.replace('\\-', '-')) if shared else None
            if found and not any(fnmatch.fnmatchcase(name, pattern.strip()) for pattern in found[1].split(',')):
                continue
            cause = text[text.index(':') + 1:].strip() if found else text
            known = causes.setdefault(code, [])
            if cause not in known:
                known.append(cause)
    return causes
