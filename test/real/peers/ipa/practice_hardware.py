"""What the real agent drives in place of this host's hardware.

The inventory is the one of $IPA_MACHINE/inventory.json, in the form in which the agent tells it. Whatever would touch a
disk, a firmware or the power is only written down, in $IPA_MACHINE/operations.jsonl.
"""

import inspect
import io
import json
import os
import time

from ironic_python_agent import errors
from ironic_python_agent import hardware

MACHINE = os.environ['IPA_MACHINE']


def record(operation, **details):
    with open(os.path.join(MACHINE, 'operations.jsonl'), 'at') as log:
        log.write(json.dumps({'operation': operation, **details}) + '\n')


def taken_by(cls, fields):
    """Those of the fields that a class of the inventory is made from."""
    known = inspect.signature(cls.__init__).parameters
    return cls(**{name: value for name, value in fields.items() if name in known})


class PracticeHardwareManager(hardware.GenericHardwareManager):
    HARDWARE_MANAGER_NAME = 'practice'
    HARDWARE_MANAGER_VERSION = '1'

    # The generic manager is there besides and advertises its own steps; as this one has the higher support, it is asked
    # to run them.
    def evaluate_hardware_support(self):
        for kind in ('clean', 'deploy', 'service'):
            for step in getattr(super(), f'get_{kind}_steps')({}, []):
                if step['step'] not in vars(PracticeHardwareManager):
                    raise RuntimeError(f"nobody has made the step {step['step']} harmless")
        return hardware.HardwareSupport.SERVICE_PROVIDER + 1

    def initialize(self):
        pass

    # What there is

    @property
    def inventory(self):
        with open(os.path.join(MACHINE, 'inventory.json')) as file:
            return json.load(file)

    def list_network_interfaces(self):
        return [taken_by(hardware.NetworkInterface, {**nic, 'mac_addr': nic['mac_address']})
                for nic in self.inventory['interfaces']]

    def get_interface_info(self, interface_name):
        for nic in self.list_network_interfaces():
            if nic.name == interface_name:
                return nic
        raise errors.IncompatibleHardwareMethodError()

    def list_block_devices(self, include_partitions=False, all_serial_and_wwn=False):
        return [taken_by(hardware.BlockDevice, disk) for disk in self.inventory['disks']]

    def get_cpus(self):
        return taken_by(hardware.CPU, self.inventory['cpu'])

    def get_memory(self):
        return taken_by(hardware.Memory, self.inventory['memory'])

    def get_bmc_address(self):
        return self.inventory['bmc_address']

    def get_bmc_v6address(self):
        return self.inventory['bmc_v6address']

    def get_bmc_mac(self):
        if 'bmc_mac' in self.inventory:
            return self.inventory['bmc_mac']
        raise errors.IncompatibleHardwareMethodError()

    def get_system_vendor_info(self):
        vendor = self.inventory['system_vendor']
        return taken_by(hardware.SystemVendorInfo,
                        {**vendor, 'firmware': hardware.SystemFirmware(**vendor['firmware'])})

    def get_boot_info(self):
        return taken_by(hardware.BootInfo, self.inventory['boot'])

    def get_usb_devices(self):
        return []

    def wait_for_disks(self):
        pass

    def filter_device(self, device):
        raise errors.IncompatibleHardwareMethodError()

    def collect_system_logs(self, io_dict, file_list):
        io_dict['practice'] = io.BytesIO(b'nothing of this host\n')

    def full_sync(self):
        record('full_sync')

    # Steps that do nothing but what a test needs: end, fail, take long, ask for a reboot

    def steps(self):
        def step(name, abortable=False, reboot=False, **fields):
            return {'step': name, 'priority': 0, 'interface': 'deploy', 'reboot_requested': reboot,
                    'abortable': abortable, **fields}
        message = {'message': {'description': 'What to say.', 'required': True}}
        seconds = {'seconds': {'description': 'How long.', 'required': True}}
        return [step('practice_noop'), step('practice_fail', argsinfo=message),
                step('practice_sleep', abortable=True, argsinfo=seconds), step('practice_reboot', reboot=True)]

    def get_clean_steps(self, node, ports):
        return self.steps()

    def get_deploy_steps(self, node, ports):
        return []

    def get_service_steps(self, node, ports):
        return self.steps()

    def practice_noop(self, node, ports):
        record('practice_noop')

    def practice_fail(self, node, ports, message):
        raise errors.CleaningError(message)

    def practice_sleep(self, node, ports, seconds):
        time.sleep(seconds)

    def practice_reboot(self, node, ports):
        record('practice_reboot')

    # Steps of the generic manager: written down instead of done

    def erase_devices(self, node, ports):
        record('erase_devices')
        return {disk.name: None for disk in self.list_block_devices()}

    def erase_block_device(self, node, block_device):
        record('erase_block_device', device=block_device.name)

    def write_image(self, node, ports, image_info, configdrive=None):
        record('write_image', image_info=image_info)
        return f"image ({image_info.get('id')}) written to device /dev/null"

    def inject_files(self, node, ports, files=None, verify_ca=True):
        record('inject_files', files=files)

    def create_configuration(self, node, ports):
        record('create_configuration')
        return {}

    def apply_configuration(self, node, ports, raid_config, delete_existing=True):
        record('apply_configuration', raid_config=raid_config)
        return {}

    def clean_uefi_nvram(self, node, ports, match_patterns=None):
        record('clean_uefi_nvram')

    def execute_bootc_install(self, node, ports, image_source, configdrive=None, oci_pull_secret=None):
        record('execute_bootc_install', image_source=image_source)


def recorded(name):
    def step(self, node, ports):
        record(name)
    return step


for _name in ('erase_devices_metadata', 'erase_devices_express', 'erase_pstore', 'delete_configuration', 'burnin_cpu',
              'burnin_gpu', 'burnin_disk', 'burnin_memory', 'burnin_network'):
    setattr(PracticeHardwareManager, _name, recorded(_name))
