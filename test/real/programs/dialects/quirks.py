"""
Runs a call for each quirk of a table, by the client that works around it, and once more with its workaround taken away.
Prints what each ended with, by the name of its row.
"""
import asyncio
import contextlib
import io
import json
import logging
import sys
import warnings
from unittest.mock import patch

import sushy
from ansible.module_utils.testing import patch_module_args
from ansible_collections.community.general.plugins.module_utils.redfish_utils import RedfishUtils
from ansible_collections.community.general.plugins.modules import redfish_command, redfish_config, redfish_info
from badfish.main import Badfish
from rich.console import Console
from sushy import auth, utils
from sushy.connector import Connector
from sushy.resources.manager.virtual_media import VirtualMedia
from sushy.resources.system.system import System

# Of certificates that are not verified.
warnings.simplefilter('ignore')

bmcs, username, password = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
IMAGE = 'http://images.test/boot.iso'
SECURE_IMAGE = 'https://images.test/boot.iso'
rows = {}


def row(name, *without):
    """A call of a row: it gets an address, and what takes the workaround away are patches, or another call."""
    def add(call):
        rows[name] = (call, without)
        return call
    return add


# sushy

def root_of(url):
    return sushy.Sushy(url, auth=auth.BasicAuth(username, password), verify=False, server_side_retries=10,
                       server_side_retries_delay=0.3)


def system_of(url):
    return root_of(url).get_system()


def slot_of(url):
    system = system_of(url)
    owners = [system, *system.managers] if 'VirtualMedia' in system.json else system.managers
    return [slot for owner in owners for slot in owner.virtual_media.get_members()
            if sushy.VirtualMediaType.CD in slot.media_types][0]


def older_managers(system):
    return utils.get_sub_resource_path_by(system, ['Links', 'ManagedBy'], is_collection=True)


def settings_first(system, target, enabled=None, mode=None):
    """As releases did that took each settings object for one of the override."""
    system._conn.patch(system._settings.resource_uri, data={'Boot': {'BootSourceOverrideTarget': target.value}})


def with_defaults(post):
    """A POST that has Inserted and WriteProtected in any case."""
    def posting(connector, path='', data=None, **more):
        if data and 'Image' in data:
            data = {**data, 'Inserted': True, 'WriteProtected': True}
        return post(connector, path, data=data, **more)
    return posting


def tag_as_it_is(connector, path, data, headers, etag, *more):
    return connector._op('PATCH', path, data=data, headers={'If-Match': etag})


def composed_path(url):
    return root_of(url).get_system('/redfish/v1/Systems/1').identity


@row('1 sushy', composed_path)
def only_system(url):
    return system_of(url).identity


@row('9 sushy', patch.object(System, 'managers', property(older_managers)))
def managers(url):
    return [manager.identity for manager in system_of(url).managers]


@row('19 sushy', patch.object(Connector, 'check_retry_on_exception', lambda connector, message: False))
def power_soon_after(url):
    system = system_of(url)
    system.reset_system(sushy.ResetType.ON)
    system.reset_system(sushy.ResetType.FORCE_OFF)
    system.reset_system(sushy.ResetType.ON)
    system.refresh()
    return system.power_state.value


@row('26 sushy', patch.object(System, '_settings', None))
def boot_once(url):
    system = system_of(url)
    system.set_system_boot_options(sushy.BootSource.PXE, enabled=sushy.BootSourceOverrideEnabled.ONCE)
    system.refresh()
    return [system.boot.target.value, system.boot.enabled.value]


row('29 sushy', patch.object(System, 'set_system_boot_options', settings_first))(boot_once)


@row('33 sushy', boot_once)
def whole_boot(url):
    system = system_of(url)
    system.set_system_boot_options(sushy.BootSource.PXE, enabled=sushy.BootSourceOverrideEnabled.ONCE,
                                   mode=sushy.BootSourceOverrideMode.UEFI)
    system.refresh()
    return [system.boot.target.value, system.boot.enabled.value]


@row('40 sushy', patch.object(System, 'manufacturer', None))
def boot_of_media(url):
    slot_of(url).insert_media(IMAGE)
    system = system_of(url)
    system.set_system_boot_options(sushy.BootSource.CD, enabled=sushy.BootSourceOverrideEnabled.ONCE,
                                   mode=sushy.BootSourceOverrideMode.UEFI)
    system.refresh()
    target = system.boot.target.value
    system.reset_system(sushy.ResetType.ON)
    return target


def inserted(url):
    slot = slot_of(url)
    slot.insert_media(IMAGE)
    slot.refresh()
    return [slot.inserted, slot.image]


row('56 sushy', patch.object(VirtualMedia, '_allow_patch', lambda slot: False))(inserted)
row('57 sushy', patch.object(Connector, 'post', with_defaults(Connector.post)))(inserted)


@row('62 sushy', patch.object(VirtualMedia, 'is_transfer_protocol_required', lambda slot, error=None: False))
def inserted_by_https(url):
    slot = slot_of(url)
    slot.insert_media(SECURE_IMAGE)
    slot.refresh()
    return [slot.inserted, slot.image]


row('64 sushy', patch.object(VirtualMedia, 'is_credentials_required', lambda slot, error=None: False))(inserted)


def post_without_body(url):
    slot = slot_of(url)
    slot.insert_media(IMAGE)
    slot.refresh()
    slot._conn.post(slot._actions.eject_media.target_uri)


@row('53 sushy', post_without_body)
def ejected(url):
    slot = slot_of(url)
    slot.insert_media(IMAGE)
    slot.refresh()
    slot.eject_media()
    slot.refresh()
    return slot.inserted


row('69 sushy', patch.object(Connector, '_etag_handler', tag_as_it_is))(boot_once)


def timed_setting(url):
    system_of(url).bios.set_attribute('QuietBoot_002D', False, apply_time=sushy.ApplyTime.ON_RESET)


@row('86 sushy', timed_setting)
def setting_as_supported(url):
    bios = system_of(url).bios
    isTimed = sushy.ApplyTime.ON_RESET in (bios.supported_apply_times or [])
    bios.set_attribute('QuietBoot_002D', False, apply_time=sushy.ApplyTime.ON_RESET if isTimed else None)
    return bios.pending_attributes


def reset_without_body(url):
    bios = system_of(url).bios
    bios._conn.post(bios._actions.reset_bios.target_uri)


@row('89 sushy', reset_without_body)
def defaults_of_bios(url):
    system_of(url).bios.reset_bios()
    return True


# Ansible's modules of community.general

class ModuleFailed(Exception):
    """A module ended with fail_json."""


def ansible(module, url, **arguments):
    """What a module ends with, which runs here as on a host: by its main(), with its arguments."""
    whole = {'baseuri': url.removeprefix('https://'), 'username': username, 'password': password, **arguments}
    printed = io.StringIO()
    with patch_module_args(whole), contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        module.main()
    result = json.loads(printed.getvalue())
    if result.get('failed'):
        raise ModuleFailed(result['msg'])
    return result


def system_command(url, command, **more):
    return ansible(redfish_command, url, category='Systems', command=[command], **more)['changed']


def vendor_of_root(client):
    document = client.get_request(client.root_uri + client.service_root)['data']
    return {'ret': True, 'Vendor': document.get('Vendor', '')}


def without_power_state(get):
    def reading(client, uri, *positional, **more):
        answer = get(client, uri, *positional, **more)
        if answer['ret'] and answer['data']:
            answer['data'].pop('PowerState', None)
        return answer
    return reading


def values_of_action(client, action):
    values = action.get('ResetType@Redfish.AllowableValues')
    return {} if values is None else {'ResetType': {'AllowableValues': values}}


def with_mode(send):
    """A PATCH of Boot that names the mode in any case."""
    def patching(client, uri, payload, check_pyld=False):
        return send(client, uri, {'Boot': {**payload['Boot'], 'BootSourceOverrideMode': 'UEFI'}}, check_pyld=check_pyld)
    return patching


@row('55 ansible', patch.object(RedfishUtils, '_get_vendor', lambda client: {'ret': True, 'Vendor': ''}))
@row('14 ansible', patch.object(RedfishUtils, '_get_vendor', vendor_of_root))
def insert_by_vendor(url):
    virtual_media = {'image_url': IMAGE, 'media_types': ['CD'], 'inserted': True, 'write_protected': True}
    return ansible(redfish_command, url, category='Manager', command=['VirtualMediaInsert'],
                   virtual_media=virtual_media)['changed']


@row('17 ansible', patch.object(RedfishUtils, 'get_request', without_power_state(RedfishUtils.get_request)))
def on_twice(url):
    return [system_command(url, 'PowerOn') for _ in range(2)]


@row('21 ansible', patch.object(RedfishUtils, '_get_all_action_info_values', values_of_action))
def reboot(url):
    return [system_command(url, command) for command in ('PowerOn', 'PowerReboot')]


@row('36 ansible', patch.object(RedfishUtils, 'patch_request', with_mode(RedfishUtils.patch_request)))
def one_time_boot(url):
    return system_command(url, 'SetOneTimeBoot', bootdevice='Pxe')


@row('70 ansible', lambda url: system_command(url, 'SetOneTimeBoot', bootdevice='Pxe'))
def boot_without_quotes(url):
    return system_command(url, 'SetOneTimeBoot', bootdevice='Pxe', strip_etag_quotes=True)


@row('85 ansible', patch.object(RedfishUtils, '_get_vendor', lambda client: {'ret': True, 'Vendor': ''}))
def setting_after_reboot(url):
    system_command(url, 'PowerOn')
    ansible(redfish_config, url, category='Systems', command=['SetBiosAttributes'],
            bios_attributes={'QuietBoot': 'Disabled'})
    system_command(url, 'PowerReboot')
    read = ansible(redfish_info, url, category='Systems', command=['GetBiosAttributes'])
    return read['redfish_facts']['bios_attribute']['entries'][0][1]['QuietBoot']


# badfish

async def badfish_of(url):
    quiet = logging.getLogger('badfish')
    quiet.disabled = True
    client = Badfish(url.removeprefix('https://'), username, password, quiet, 1, _insecure=True,
                     _console=Console(quiet=True), _progress_disabled=True)
    await client.init()
    return client


async def strict_mount(client, path):
    """A mount that takes no status for success but 204."""
    slot = await client.get_virtual_media_device(await client.get_virtual_media_config())
    answer = await client.post_request(f'{client.host_uri}{slot}/Actions/VirtualMedia.InsertMedia', {'Image': path},
                                       {'Content-Type': 'application/json'})
    if answer.status != 204:
        raise RuntimeError(f'InsertMedia was answered {answer.status}')
    return True


async def managers_media(client):
    return f'{client.manager_resource}/VirtualMedia'


def mounted(url):
    async def work():
        async with await badfish_of(url) as client:
            return [await client.mount_virtual_media(IMAGE) for _ in range(2)]
    return asyncio.run(work())


row('50 badfish', patch.object(Badfish, 'find_virtual_media_resource', managers_media))(mounted)
row('52 badfish', patch.object(Badfish, 'mount_virtual_media', strict_mount))(mounted)


def ended(call, url):
    try:
        return {'value': call(url)}
    except Exception as error:
        return {'error': f'{type(error).__name__}: {error}'}


def without_workaround(call, taken, url):
    with contextlib.ExitStack() as stack:
        for each in taken:
            if callable(each) and not hasattr(each, '__enter__'):
                call = each
            else:
                stack.enter_context(each)
        return ended(call, url)


seen = {}
for name, (url, other) in bmcs.items():
    call, taken = rows[name]
    seen[name] = {'with': ended(call, url), 'without': without_workaround(call, taken, other)}
print(json.dumps(seen))
