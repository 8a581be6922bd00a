"""Works one machine through sushy, every resource that it knows, and prints what it has seen as JSON."""
import json
import sys
import time

import sushy
from sushy import auth, exceptions

url, username, password, machine, certificate, firmware = sys.argv[1:7]
seen = {}


def refused(call):
    """The status and the code of the error that a call ends with."""
    try:
        call()
    except exceptions.HTTPError as error:
        return [error.status_code, (error.code or '').rsplit('.', 1)[-1]]
    raise AssertionError('nothing was refused')


connect = lambda **more: sushy.Sushy(url, server_side_retries=1, server_side_retries_delay=1, **more)
seen['wrong password'] = refused(lambda: connect(auth=auth.BasicAuth(username, 'no')).get_system_collection())
root = connect(auth=auth.SessionAuth(username, password))
seen['sessions'] = len(root.get_session_service().sessions.get_members())
path = f'/redfish/v1/Systems/{machine}'
seen['systems'] = list(root.get_system_collection().members_identities)
system = root.get_system(path)
seen['unknown'] = refused(lambda: root.get_system('/redfish/v1/Systems/nothing'))

# Power
seen['resets'] = sorted(value.value for value in system.get_allowed_reset_system_values())


def power(reset, state):
    system.reset_system(reset)
    for _ in range(50):
        system.refresh()
        if system.power_state == state:
            return
        time.sleep(0.1)
    raise AssertionError(f'{reset} did not lead to {state}')


power(sushy.ResetType.ON, sushy.PowerState.ON)
power(sushy.ResetType.FORCE_RESTART, sushy.PowerState.ON)
system.reset_system(sushy.ResetType.NMI)
power(sushy.ResetType.FORCE_OFF, sushy.PowerState.OFF)
seen['nmi of a machine that is off'] = refused(lambda: system.reset_system(sushy.ResetType.NMI))

# Boot
boots = []
for target, enabled, mode in [
    (sushy.BootSource.CD, sushy.BootSourceOverrideEnabled.ONCE, None),
    (sushy.BootSource.PXE, sushy.BootSourceOverrideEnabled.CONTINUOUS, sushy.BootSourceOverrideMode.LEGACY),
    (sushy.BootSource.HDD, sushy.BootSourceOverrideEnabled.CONTINUOUS, sushy.BootSourceOverrideMode.UEFI),
]:
    system.set_system_boot_options(target, enabled=enabled, mode=mode)
    system.refresh()
    boots.append([system.boot.target.value, system.boot.enabled.value, system.boot.mode.value])
system.set_system_boot_options(sushy.BootSource.UEFI_HTTP, enabled=sushy.BootSourceOverrideEnabled.ONCE,
                               http_boot_uri='http://127.0.0.1/boot.iso')
system.refresh()
boots.append([system.boot.target.value, system.boot.http_boot_uri])
seen['boots'] = boots
system.set_indicator_led(sushy.IndicatorLED.BLINKING)
system.refresh()
seen['indicator'] = system.indicator_led.value

# Settings
bios = system.bios
seen['refused setting'] = refused(lambda: bios.set_attribute('QuietBoot', 'Maybe'))
bios.set_attribute('QuietBoot', 'Disabled')
seen['pending'] = bios.pending_attributes
registry = bios.get_attribute_registry()
seen['attributes'] = [len(bios.attributes), len(registry.registry_entries.attributes)]
power(sushy.ResetType.ON, sushy.PowerState.ON)
bios.refresh()
seen['applied'] = bios.attributes['QuietBoot']
bios.reset_bios()
secure = system.secure_boot
secure.set_enabled(True)
secure.refresh()
seen['secure boot'] = [secure.enabled, secure.current_boot.value, secure.mode.value]
for database in secure.databases.get_members():
    database.reset_keys(sushy.SecureBootResetKeysType.RESET_ALL_KEYS_TO_DEFAULT)
seen['databases'] = [database.database_id.value for database in secure.databases.get_members()]
secure.reset_keys(sushy.SecureBootResetKeysType.DELETE_PK)
secure.refresh()
seen['without keys'] = [secure.enabled, secure.mode.value]

# Media
for owner in (system, root.get_manager(f'/redfish/v1/Managers/{machine}')):
    medium = [each for each in owner.virtual_media.get_members() if sushy.VirtualMediaType.CD in each.media_types][0]
    medium.insert_media('http://127.0.0.1/agent.iso', username='reader', password='hidden')
    medium.refresh()
    inserted = [medium.image, medium.inserted, medium.user_name, medium.connected_via.value]
    medium.set_verify_certificate(True)
    medium.refresh()
    medium.certificates.create_member(open(certificate).read(), sushy.CertificateType.PEM)
    own = medium.certificates.get_members()
    service = root.get_certificate_service()
    listed = service.certificate_locations.get_members()
    service.replace_certificate(listed[0].path, open(certificate).read(), sushy.CertificateType.PEM)
    medium.eject_media()
    medium.refresh()
    seen.setdefault('media', []).append(
        inserted + [medium.verify_certificate, len(own), len(listed), own[0].subject.common_name, medium.inserted])
    own[0].delete()

# Hardware
seen['nics'] = {mac: state.value for mac, state in system.ethernet_interfaces.summary.items()}
seen['memory'] = system.memory_summary.size_gib
seen['processors'] = list(system.processors.summary)
storages = system.storage.get_members()
seen['drives'] = [[drive.identity, drive.capacity_bytes] for each in storages for drive in each.drives]
seen['controllers'] = [[controller.name for controller in each.controllers.get_members()] for each in storages]
storages[0].drives[0].set_indicator_led(sushy.IndicatorLED.LIT)
seen['simple storage'] = [[device.name for device in each.devices] for each in system.simple_storage.get_members()]
seen['expanded'] = [len(each.drives) for each in system.storage_expanded.get_members()]
volumes = storages[0].volumes
made = volumes.create({'RAIDType': 'RAID1', 'Name': 'root', 'CapacityBytes': 2**30}, apply_time=sushy.ApplyTime.IMMEDIATE)
made.initialize(sushy.VolumeInitializeType.FAST)
seen['volume'] = [made.raid_type.value, made.capacity_bytes, storages[0].volumes.max_volume_size_bytes]
made.delete()
# A system that is read anew: sushy would look for the member that is gone.
system = root.get_system(path)
seen['volumes left'] = len(system.storage.get_members()[0].volumes.get_members())
chassis = system.chassis[0]
chassis.set_indicator_led(sushy.IndicatorLED.LIT)
seen['chassis'] = [chassis.chassis_type.value, len(chassis.thermal.fans), len(chassis.thermal.temperatures),
                   len(chassis.power.power_supplies)]
seen['adapters'] = [[len(adapter.ports.get_members()), len(adapter.network_device_functions.get_members())]
                    for adapter in chassis.network_adapters.get_members()]
manager = system.managers[0]
seen['manager'] = [manager.manager_type.value, manager.firmware_version, manager.systems[0].identity == machine]
manager.reset_manager(sushy.ResetType.GRACEFUL_RESTART)

# Firmware
update = root.get_update_service()
seen['firmware'] = sorted(each.software_id for each in update.firmware_inventory.get_members())
monitor = update.simple_update(firmware, targets=[path])
running = monitor.is_processing
monitor.wait(30)
task = monitor.get_task()
task.parse_messages()
system.refresh()
seen['update'] = [running, task.task_state.value, task.messages[0].message, system.bios_version]
seen['tasks'] = [each.task_state.value for each in root.get_task_service().tasks.get_members()]

# Events
events = root.get_event_service()
made = events.subscriptions.create({'Destination': 'http://127.0.0.1:9/events', 'Protocol': 'Redfish', 'Context': 'mine',
                                    'EventTypes': ['Alert']})
seen['subscription'] = [made.context, made.event_types]
made.delete()
seen['registries'] = sorted({registry.identity for registry in root.registries.values() if registry})
print(json.dumps(seen, default=str))
