"""Walks each BMC of a table through sushy: every resource and every value that its API reaches. Prints which kinds
it met, and what failed."""
import contextlib
import inspect
import json
import sys

import sushy
from sushy import auth, exceptions
from sushy.resources import base

# Not of a resource: its document, the registries of the root, and what fails in sushy where a resource has no `Oem`.
SKIPPED = ('json', 'registries', 'oem_vendors')

bmcs, username, password = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]


class Walk:
    """What sushy reaches from an object, each resource once."""

    def __init__(self):
        self.resources = set()
        self.errors = []

    def go(self, value):
        if isinstance(value, (list, tuple)):
            for each in value:
                self.go(each)
        elif isinstance(value, dict):
            self.go(list(value.values()))
        elif isinstance(value, base.ResourceBase):
            key = (type(value).__name__, value.path)
            if key not in self.resources:
                self.resources.add(key)
                self.members(value)

    def members(self, resource):
        kind = type(resource)
        for name in dir(kind):
            if name.startswith('_') or name in SKIPPED:
                continue
            member = getattr(kind, name)
            # Getters read; every other method changes something.
            isGetter = inspect.isfunction(member) and name.startswith('get_') and needs_nothing(member)
            if not isGetter and not isinstance(member, property):
                continue
            try:
                found = getattr(resource, name)
                self.go(found() if isGetter else found)
            except Exception as error:
                self.errors.append([f'{kind.__name__}.{name}', resource.path, f'{type(error).__name__}: {error}'[:200]])


def needs_nothing(method):
    parameters = list(inspect.signature(method).parameters.values())[1:]
    return all(each.default is not inspect.Parameter.empty for each in parameters)


seen = {}
for name, url in bmcs.items():
    walk = Walk()
    root = sushy.Sushy(url, auth=auth.SessionAuth(username, password), verify=False, server_side_retries=0)
    # A subscription and a task, so that their collections have a member.
    root.get_event_service().subscriptions.create({'Destination': 'https://127.0.0.1:9/', 'Protocol': 'Redfish'})
    # A service without SimpleUpdate ends with KeyError: sushy cannot format its own sentence of that.
    with contextlib.suppress(exceptions.SushyError, KeyError):
        root.get_update_service().simple_update('http://127.0.0.1:9/firmware.bin')
    walk.go(root)
    seen[name] = {'kinds': sorted({kind for kind, _ in walk.resources}), 'errors': walk.errors}
print(json.dumps(seen))
