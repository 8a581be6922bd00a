"""Lists the options that an installed Ironic registers, for ironic-mock/config/option-listing.ts.

    PEER/bin/python scripts/list-ironic-options.py OPTIONS.json

The options are those of Ironic's own listing (what oslo-config-generator reads), those that its services register besides
when they start, and those of the authentication plugins. Names, types, defaults and deprecated names go into the data; help
texts do not. scripts/list-ironic-options.js runs this and writes the file.
"""

import importlib.metadata
import json
import re
import sys

# ironic 39.0.0 tools/config/ironic-config-generator.conf; the services use the last two too.
NAMESPACES = [
    'ironic',
    'oslo.db',
    'oslo.messaging',
    'oslo.middleware.cors',
    'oslo.middleware.healthcheck',
    'oslo.middleware.http_proxy_to_wsgi',
    'oslo.concurrency',
    'oslo.policy',
    'oslo.log',
    'oslo.reports',
    'cotyledon',
    'oslo.service.periodic_task',
    'oslo.service.sslutils',
    'oslo.versionedobjects',
    'osprofiler',
    'keystonemiddleware.audit',
    'keystonemiddleware.auth_token',
    'oslo.service.service',
    'oslo.service.wsgi',
]


def main():
    listing = {'packages': packages(), 'namespaces': listed(), 'authentication': plugin_options()}
    # What Ironic logs goes to the standard output.
    with open(sys.argv[1], 'w', encoding='utf-8') as file:
        json.dump(listing, file)


def packages():
    """Name and version of each package that options come from."""
    found = {}
    for package in importlib.metadata.distributions():
        name = package.metadata['Name']
        if any(point.group == 'oslo.config.opts' for point in package.entry_points) or name == 'keystoneauth1':
            found[name] = package.version
    return dict(sorted(found.items()))


def listed():
    """Options by namespace and section; an option stands in the first namespace that has it."""
    # The services choose their threading before anything that the listing loads does.
    at_start = registered_at_start()
    from oslo_config import generator

    seen = set()
    namespaces = {}
    found = sorted(generator._list_opts(NAMESPACES), key=lambda each: NAMESPACES.index(each[0]))
    for namespace, groups in found:
        for group, options in groups:
            section = getattr(group, 'name', group) or 'DEFAULT'
            for option in options:
                keep(namespaces, namespace, section, option, seen)
    for section, option in at_start:
        keep(namespaces, 'at start', section, option, seen)
    return {name: {section: sections[section] for section in sorted(sections)} for name, sections in namespaces.items()}


def registered_at_start():
    """What the services of Ironic register, whether or not the listing has it."""
    import ironic.command.singleprocess  # noqa: F401
    from ironic.command import api, conductor, dbsync, networking, novncproxy, pxe_filter  # noqa: F401
    from ironic.common import service
    from ironic.api import app  # noqa: F401
    from ironic.conductor import manager  # noqa: F401
    from ironic.conf import CONF
    from keystonemiddleware import audit, auth_token  # noqa: F401

    service.prepare_service('ironic', ['ironic'])
    found = [('DEFAULT', each['opt']) for each in CONF._opts.values()]
    for name, group in CONF._groups.items():
        found += [(name, each['opt']) for each in group._opts.values()]
    return found


def plugin_options():
    """Options of all authentication plugins, which a section with `auth_type` or one of its `auth_section` may have."""
    from keystoneauth1 import loading

    options = {}
    for name in sorted(loading.get_available_plugin_names()):
        for option in loading.get_plugin_options(name):
            as_oslo = option._to_oslo_opt()
            options.setdefault(as_oslo.dest, described(as_oslo))
    return dict(sorted(options.items()))


def keep(namespaces, namespace, section, option, seen):
    if (section, option.dest) in seen or type(option).__name__ == 'SubCommandOpt':
        return
    seen.add((section, option.dest))
    namespaces.setdefault(namespace, {}).setdefault(section, {})[option.dest] = described(option)


def described(option):
    default = option.default if option.sample_default is None else option.sample_default
    names = [deprecated_name(option, old) for old in option.deprecated_opts if old.name or old.group]
    record = {
        **described_type(option.type),
        'default': default if is_plain(default) else str(default),
        'multi': option.multi or None,
        'secret': option.secret or None,
        'deprecated': names or None,
    }
    return {name: value for name, value in record.items() if value is not None}


def deprecated_name(option, old):
    section = getattr(old.group, 'name', old.group)
    return {name: value for name, value in (('section', section), ('name', old.name or option.dest)) if value}


def is_plain(value):
    if isinstance(value, (list, tuple)):
        return all(is_plain(each) for each in value)
    if isinstance(value, dict):
        return all(isinstance(name, str) and is_plain(each) for name, each in value.items())
    return value is None or isinstance(value, (bool, int, float, str))


def described_type(kind):
    """The type with its limits; a function of the option's own module counts as a text."""
    from oslo_config import types
    from ironic.conf.types import ExplicitAbsolutePath, KernelParameterString

    names = [
        (types.Port, 'port'),
        (types.Integer, 'integer'),
        (types.Float, 'float'),
        (types.Boolean, 'boolean'),
        (types.List, 'list'),
        (types.Dict, 'dict'),
        (types.Range, 'range'),
        (types.HostDomain, 'host domain'),
        (types.HostAddress, 'host address'),
        (types.Hostname, 'hostname'),
        (types.IPAddress, 'ip address'),
        (types.URI, 'uri'),
        (ExplicitAbsolutePath, 'absolute path'),
        (KernelParameterString, 'kernel parameters'),
    ]
    # keystoneauth1 names Python's own types.
    plain = {bool: 'boolean', int: 'integer', float: 'float'}
    as_class = plain.get(kind) if isinstance(kind, type) else None
    name = as_class or next((name for known, name in names if isinstance(kind, known)), 'text')
    item = getattr(kind, 'item_type', None) or getattr(kind, 'value_type', None)
    choices = getattr(kind, 'choices', None)
    pattern = getattr(kind, 'regex', None)
    limits = {
        'choices': list(choices) if choices else None,
        'ignoreCase': getattr(kind, 'ignore_case', None) or None,
        'min': getattr(kind, 'min', None),
        'max': getattr(kind, 'max', None),
        'maxLength': getattr(kind, 'max_length', None) or None,
        'minLength': getattr(kind, 'min_length', None) or None,
        'bounds': getattr(kind, 'bounds', None) or None,
        'schemes': list(getattr(kind, 'schemes', None) or []) or None,
        'pattern': pattern.pattern if isinstance(pattern, re.Pattern) else None,
        'item': described_type(item) if item is not None else None,
    }
    if name == 'port' and (limits['min'], limits['max']) == (0, 65535):
        limits['min'] = limits['max'] = None
    if limits['item'] == {'type': 'text'}:
        limits['item'] = None
    return {'type': name, **{limit: value for limit, value in limits.items() if value is not None}}


if __name__ == '__main__':
    main()
