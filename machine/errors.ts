import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    machine: typeof ERRORS
  }
}

/** The codes of `machine/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'bios-setting': {
    sentence: 'the firmware has no such setting, or does not accept the value',
    remedy: "check the node's bios settings",
  },
  'bmc-taken': {
    sentence: 'two machines have the same BMC',
    remedy: 'give each machine its own BMC address or system id',
  },
  'boot-filesystem-damaged': {
    sentence: 'the boot filesystem of the disk cannot be read',
    remedy: 'install again from an image that matches its published checksum',
  },
  'disk-size': {
    sentence: 'the disk file and the disk differ in size',
    remedy: "give the machine a disk of the file's size, or use another file",
  },
  'disk-swap': {
    sentence: 'the disk cannot be used as a replacement',
    remedy: 'use an option that the message names',
  },
  'disk-too-small': {
    sentence: 'the image needs a larger disk',
    remedy: 'give a larger --disk-size',
  },
  'firmware-component': {
    sentence: 'the machine has no such firmware component',
    remedy: "check the node's firmware components",
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
    sentence: 'extra bytes follow the image',
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
    remedy: 'choose a state that the message lists',
  },
  'machine-exists': {
    sentence: 'a machine with this id already exists',
    remedy: 'use another id, or remove the old machine',
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
    sentence: 'the machine has no disk with this name',
    remedy: 'choose one that the message lists',
  },
  'no-such-nic': {
    sentence: 'the machine has no NIC with this name',
    remedy: 'choose one that the message lists',
  },
  'secure-boot': {
    sentence: 'the machine boots with BIOS, which has no secure boot',
    remedy: 'give the machine UEFI firmware',
  },
  'shared-identity': {
    sentence: 'two machines would have the same serial number, MAC address or other identity',
    remedy: 'leave the value out, or list one machine per value under machines:',
  },
  'state-full': {
    sentence: 'the disk of the state folder is full',
    remedy: 'free space there',
  },
  subscription: {
    sentence: 'the BMC has no such event subscription',
    remedy: 'list the subscriptions of the node',
  },
})
