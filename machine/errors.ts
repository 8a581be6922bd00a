import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    machine: typeof ERRORS
  }
}

/** The codes of `machine/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'bios-setting': {
    sentence: 'the firmware has no such setting, or does not take the value',
    remedy: "look at the node's bios settings",
  },
  'bmc-taken': {
    sentence: 'two machines have the same BMC',
    remedy: 'give each machine a BMC address or system id of its own',
  },
  'boot-filesystem-damaged': {
    sentence: 'the boot filesystem of the disk cannot be read',
    remedy: 'install the disk again, from an image whose checksum is as published',
  },
  'disk-size': {
    sentence: 'the disk file has another size than the disk',
    remedy: 'give the machine a disk of the size of its file, or another file',
  },
  'disk-swap': {
    sentence: 'the disk cannot take that place',
    remedy: 'use what the message names',
  },
  'disk-too-small': {
    sentence: 'the image needs a larger disk',
    remedy: 'give a larger --disk-size',
  },
  'firmware-component': {
    sentence: 'the machine has no such firmware component',
    remedy: "look at the node's firmware components",
  },
  'hardware-file': {
    sentence: 'the hardware file cannot be used',
    remedy: 'correct what the message names; see docs/hardware.md',
  },
  'image-corrupt': {
    sentence: 'the image file is damaged',
    remedy: 'download it again and compare its checksum',
  },
  'image-no-boot': {
    sentence: 'the image has no filesystem labelled boot',
    remedy: 'give a CoreOS metal image',
  },
  'image-not-a-disk': {
    sentence: 'the file is not a disk image',
    remedy: 'give a CoreOS metal image',
  },
  'image-trailing-data': {
    sentence: 'bytes that do not belong to the image follow it',
    remedy: 'download it again and compare its checksum',
  },
  'image-truncated': {
    sentence: 'the image is shorter than its partition table says',
    remedy: 'download it again and compare its checksum',
  },
  'image-unreadable': {
    sentence: 'the image file cannot be read',
    remedy: 'check the path and its permissions',
  },
  'indicator-state': {
    sentence: 'the indicator has no such state',
    remedy: 'use a state that the message lists',
  },
  'machine-exists': {
    sentence: 'a machine with that id exists',
    remedy: 'give the new machine another id, or remove the old one',
  },
  'machine-on': {
    sentence: 'the machine is on',
    remedy: 'switch it off first',
  },
  'machine-spec': {
    sentence: 'the description of a machine is not valid',
    remedy: 'correct what the message names',
  },
  'no-such-disk': {
    sentence: 'the machine has no disk of that name',
    remedy: 'use one that the message lists',
  },
  'no-such-nic': {
    sentence: 'the machine has no NIC of that name',
    remedy: 'use one that the message lists',
  },
  'secure-boot': {
    sentence: 'the machine boots by BIOS, which has no secure boot',
    remedy: 'give the machine UEFI firmware',
  },
  'shared-identity': {
    sentence: 'two machines would have the same serial number, MAC address or other identity',
    remedy: 'leave the value out, or list a machine for each value under machines:',
  },
  'state-full': {
    sentence: 'the disk of the state folder is full',
    remedy: 'make room there',
  },
  subscription: {
    sentence: 'the BMC has no such event subscription',
    remedy: 'list the subscriptions of the node',
  },
})
