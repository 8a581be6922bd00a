/** Number of the first error of libext2fs; the others follow (e2fsprogs, lib/ext2fs/ext2_err.et.in). */
const FIRST = 2133571328

/** Meaning of an error of libext2fs, with the errno that the machine's programs report. */
export interface Finding {
  code: string
  /** Text after "is damaged: "; undefined when the error is no damage. */
  what?: string
}

const damaged = (what: string): Finding => ({ code: 'EUCLEAN', what })

const FINDINGS = new Map<number, Finding>([
  [19, { code: 'EINVAL', what: 'the superblock has another magic number' }],
  [20, damaged('the superblock has a revision that is not known')],
  [22, damaged('the group descriptors cannot be read')],
  [24, damaged('a group descriptor names a block for the block bitmap that cannot be one')],
  [25, damaged('a group descriptor names a block for the inode bitmap that cannot be one')],
  [26, damaged('a group descriptor names a block for the inode table that cannot be one')],
  [28, damaged('an inode bitmap cannot be read')],
  [30, damaged('a block bitmap cannot be read')],
  [32, damaged('an inode table cannot be read')],
  [33, damaged('an inode cannot be read')],
  [34, damaged('the superblock has an unexpected block size')],
  [35, damaged('an entry of a directory has a wrong length')],
  [36, damaged('it ends before a block that it uses')],
  [37, damaged('it ends before a block that it uses')],
  [41, damaged('an inode number is out of range')],
  [42, damaged('a block number is out of range')],
  [45, damaged('a block number is out of range')],
  [46, damaged('a block number is out of range')],
  [47, damaged('a block number is out of range')],
  [48, damaged('an inode number is out of range')],
  [49, damaged('an inode number is out of range')],
  [50, damaged('an inode number is out of range')],
  [53, damaged('an indirect block is out of range')],
  [54, damaged('a doubly indirect block is out of range')],
  [55, damaged('a triply indirect block is out of range')],
  [59, damaged('a block group has no inode table')],
  [60, damaged('numbers in the superblock contradict each other')],
  [64, { code: 'ELOOP' }],
  [66, damaged('an inode table has a bad block')],
  [67, damaged('the superblock asks for features that are not known')],
  [68, damaged('the superblock asks for features that are not known for writing')],
  [70, damaged('its structures ask for more memory than there is')],
  [72, { code: 'ENOSPC' }],
  [73, { code: 'ENOSPC' }],
  [74, { code: 'ENOTDIR' }],
  [76, { code: 'ENOENT' }],
  [78, damaged('a block of a directory is missing')],
  [79, { code: 'EEXIST' }],
  [82, { code: 'EFBIG' }],
  [84, damaged('the journal has no superblock')],
  [88, damaged('the journal is missing')],
  [90, damaged('a block of extended attributes is out of range')],
  [93, damaged('the superblock reserves too many blocks for group descriptors')],
  [94, damaged('the resize inode is wrong')],
  [119, damaged('the header of an extent tree is wrong')],
  [120, damaged('an index of an extent tree is wrong')],
  [121, damaged('an extent is out of range')],
  [122, { code: 'ENOSPC' }],
  [134, damaged('an extent has a wrong length')],
  [145, damaged('the superblock has a wrong size of group descriptors')],
  [146, damaged('an inode does not match its checksum')],
  [147, damaged('an inode bitmap does not match its checksum')],
  [148, damaged('an extent block does not match its checksum')],
  [149, damaged('a block of a directory has no room for its checksum')],
  [150, damaged('a block of a directory does not match its checksum')],
  [151, damaged('a block of extended attributes does not match its checksum')],
  [152, damaged('the superblock does not match its checksum')],
  [153, damaged('the superblock names a checksum that is not known')],
  [155, { code: 'EEXIST' }],
  [156, damaged('a block bitmap does not match its checksum')],
  [169, damaged('an inode holds what is no inode')],
  [174, damaged('its structures contradict each other')],
  [175, damaged('a checksum does not match')],
  [176, damaged('the superblock of the journal is wrong')],
  [177, damaged('an inode is wrong')],
])

/**
 * Meaning of an error number; undefined when it is not of libext2fs.
 *
 * @param errno the positive number
 */
export function filesystemFinding(errno: number): Finding | undefined {
  const number = errno - FIRST
  if (number < 0 || number > 255) return undefined
  return FINDINGS.get(number) ?? damaged(`its structures contradict each other (libext2fs error ${number})`)
}
