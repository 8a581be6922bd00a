import type { JsonObject } from '../../base/wire/index.js'

const GIB = 2 ** 30

/** A disk as an inventory has it. */
export const SSD: JsonObject = {
  name: '/dev/sda',
  model: 'Intel SSD DC S3520',
  size: 447.13 * GIB,
  rotational: false,
  vendor: 'ATA',
  wwn: '0x55cd2e414e0a1b2c',
  serial: 'PHDV7301',
  wwn_with_extension: '0x55cd2e414e0a1b2c0x6c00',
  wwn_vendor_extension: null,
  hctl: '2:0:1:0',
  by_path: '/dev/disk/by-path/pci-0000:00:1f.2-ata-1.0',
}
const WHOLE: JsonObject = { ...SSD, size: 60 * GIB, rotational: true }
const PLAIN: JsonObject = { ...SSD, serial: '5', model: 'qemu', vendor: null }
/** Values that a hint could be mistaken for. */
const ODD: JsonObject = { ...SSD, model: '>= 5 <or> x', serial: ' ', vendor: 'Größe & Söhne', rotational: 'perhaps' }
const LISTED: JsonObject = { ...SSD, serial: ['PHDV7301', null, 'INTEL_PHDV7301'], wwn: [] }
const GUESSED: JsonObject = { ...SSD, rotational: 'Yes', size: 60.5 * GIB }

/** A hint held against a disk; lists of serials and `tran` are the agent's alone. */
export interface HintCase {
  readonly hints: JsonObject
  readonly disk: JsonObject
  readonly by?: 'agent'
}

const of = (disk: JsonObject, ...all: JsonObject[]): HintCase[] => all.map((hints) => ({ hints, disk }))
const each = (name: string, ...values: unknown[]): JsonObject[] => values.map((value) => ({ [name]: value }))

/** Hints that Ironic, the agent and ironstage evaluate. */
export const HINT_CASES: readonly HintCase[] = [
  ...of(
    WHOLE,
    ...each('size', 60, '60', '>=60', '>= 60', '= 60', '=59', '> 60', '>59', '<= 60', '< 61', '<60', '== 60', '!= 60'),
    ...each('size', '!=61', '<or> 60 <or> 70', '<in> 6', 's== 60', 's!= 60', 's> 5', '<all-in> 60'),
    ...each('size', '<range-in> [ 60 70 ]', '<range-in> ( 60 70 ]', '<range-in> [ 50 60 ]', '<range-in> [ 50 60 )'),
    ...each('size', '<range-in> [60 70]', '<range-in> 60 70', '<range-in> [ 70 60 ]', '<range-in> [ a b ]'),
    ...each('size', '<range-in> { 60 70 }', '<range-in> [ 60 70 }', '<range-in> [ 60 70 ] 80'),
    ...each('size', 0, -1, '0', 'big', '60.0', 60.5, '6_0', '+60', ' 60 ', '', '>= 60 GiB', '>=', null, true, [60]),
    ...each('rotational', true, false, 'true', 'True', 'no', '1', 1, 0, 'perhaps', '', null),
  ),
  ...of(
    SSD,
    ...each('size', 447, 448, '>= 447', '>= 448', '< 448', '<range-in> [ 447 448 ]', '<range-in> [ 448 500 ]'),
    ...each('model', 'Intel SSD DC S3520', 'intel ssd dc s3520', 'intel%20ssd%20dc%20s3520', 'intel', '<in> SSD'),
    ...each('model', '<in> intel ssd', '<in> intel%20ssd', '<in>ssd', '<in> hdd', 's== Intel SSD DC S3520'),
    ...each('model', 's==Intel SSD DC S3520', 's!= intel', 's!= Intel SSD DC S3520', 's> h', 's>= intel ssd', 's< z'),
    ...each('model', 's<= a', '<or> a <or> intel ssd dc s3520', '<or> a b <or> c', '<all-in> intel ssd', '= 5', '> 5'),
    ...each('model', '<range-in> [ 1 2 ]', '== ==', '==', '<or>', '', '  ', 5, null, ['a'], '"Intel SSD DC S3520"'),
    ...each('vendor', 'ATA', 'ata ', '<or> ATA <or> NVMe', 's!= none'),
    ...each('serial', 'PHDV7301', '<in> 73', '<all-in> phdv7301'),
    ...each('wwn', '0x55CD2E414E0A1B2C', '0x55cd', '<in> 2e41', '== 5'),
    ...each('wwn_with_extension', '0x55cd2e414e0a1b2c0x6c00', '0x55cd2e414e0a1b2c'),
    ...each('wwn_vendor_extension', '0x1', 'none', '<in> on'),
    ...each('hctl', '2:0:1:0', 's> 1:0:0:0', '2:0:1', '<in> :1:'),
    ...each('by_path', '/dev/disk/by-path/pci-0000:00:1f.2-ata-1.0', '<in> ata-1', '<in> nvme'),
    ...each('name', '/dev/sda', '/dev/sdb', '<or> /dev/sdb <or> /dev/sda', '<in> sd'),
    { size: '>= 400', model: '<in> ssd', rotational: false },
    { size: '>= 400', model: '<in> ssd', rotational: true },
    { size: '>= 500', model: '== 5' },
    { model: '== 5', size: '>= 500' },
    ...[{ colour: 'red' }, { tran: 'sata' }],
  ),
  ...of(
    PLAIN,
    ...each('serial', 5, '5', '== 5', '== 5.0', '>= 4', '< 5', '<all-in> 5', '<range-in> [ 1 9 ]', '!= 6'),
    ...each('vendor', 'none', 's!= ata', '<in> n', 'ata'),
    ...each('model', '<all-in> qemu', '<or> qemu <or> kvm'),
  ),
  ...of(
    ODD,
    ...each('model', '>= 5 <or> x', '<in> x', 's!= y'),
    ...each('serial', ' ', 'x', 's!= x'),
    ...each('vendor', 'größe & söhne', 'GRÖSSE', '<in> &', '<in> söhne'),
    ...each('rotational', true, false),
  ),
  ...of(GUESSED, ...each('rotational', true, 'no'), ...each('size', 60, '>= 60.5', 61)),
  ...[
    ...of(
      LISTED,
      ...each('serial', 'phdv7301', 'intel_phdv7301', 's!= phdv7301', 'other', '== 5', '<all-in> a', '<in> 7301'),
      ...each('wwn', '0x55cd2e414e0a1b2c', 's!= x'),
    ),
    ...of({ ...SSD, tran: 'sata' }, ...each('tran', 'sata', 'nvme', '<or> nvme <or> SATA')),
  ].map((row): HintCase => ({ ...row, by: 'agent' })),
]
