/** Number of the first error of libext2fs; the others follow (e2fsprogs, lib/ext2fs/ext2_err.et.in). */
const FIRST = 2133571328

/** Meaning of an error of libext2fs, with the errno that the machine's programs report. */
export interface ExtErrorMeaning {
  code: string
  /** Text after "is damaged: "; undefined when the error is no damage. */
  what?: string
}

const damageFinding = (what: string): ExtErrorMeaning => ({ code: 'EUCLEAN', what })

const FINDINGS = new Map<number, ExtErrorMeaning>([
  [19, { code: 'EINVAL', what: 'the superblock has another magic number' }],
  [20, damageFinding('the superblock has a revision that is not known')],
  [22, damageFinding('the group descriptors cannot be read')],
  [24, damageFinding('a group descriptor names a block for the block bitmap that cannot be one')],
  [25, damageFinding('a group descriptor names a block for the inode bitmap that cannot be one')],
  [26, damageFinding('a group descriptor names a block for the inode table that cannot be one')],
  [28, damageFinding('an inode bitmap cannot be read')],
  [30, damageFinding('a block bitmap cannot be read')],
  [32, damageFinding('an inode table cannot be read')],
  [33, damageFinding('an inode cannot be read')],
  [34, damageFinding('the superblock has an unexpected block size')],
  [35, damageFinding('an entry of a directory has a wrong length')],
  [36, damageFinding('it ends before a block that it uses')],
  [37, damageFinding('it ends before a block that it uses')],
  [41, damageFinding('an inode number is out of range')],
  [42, damageFinding('a block number is out of range')],
  [45, damageFinding('a block number is out of range')],
  [46, damageFinding('a block number is out of range')],
  [47, damageFinding('a block number is out of range')],
  [48, damageFinding('an inode number is out of range')],
  [49, damageFinding('an inode number is out of range')],
  [50, damageFinding('an inode number is out of range')],
  [53, damageFinding('an indirect block is out of range')],
  [54, damageFinding('a doubly indirect block is out of range')],
  [55, damageFinding('a triply indirect block is out of range')],
  [59, damageFinding('a block group has no inode table')],
  [60, damageFinding('numbers in the superblock contradict each other')],
  [64, { code: 'ELOOP' }],
  [66, damageFinding('an inode table has a bad block')],
  [67, damageFinding('the superblock asks for features that are not known')],
  [68, damageFinding('the superblock asks for features that are not known for writing')],
  [70, damageFinding('its structures ask for more memory than there is')],
  [72, { code: 'ENOSPC' }],
  [73, { code: 'ENOSPC' }],
  [74, { code: 'ENOTDIR' }],
  [76, { code: 'ENOENT' }],
  [78, damageFinding('a block of a directory is missing')],
  [79, { code: 'EEXIST' }],
  [82, { code: 'EFBIG' }],
  [84, damageFinding('the journal has no superblock')],
  [88, damageFinding('the journal is missing')],
  [90, damageFinding('a block of extended attributes is out of range')],
  [93, damageFinding('the superblock reserves too many blocks for group descriptors')],
  [94, damageFinding('the resize inode is wrong')],
  [119, damageFinding('the header of an extent tree is wrong')],
  [120, damageFinding('an index of an extent tree is wrong')],
  [121, damageFinding('an extent is out of range')],
  [122, { code: 'ENOSPC' }],
  [134, damageFinding('an extent has a wrong length')],
  [145, damageFinding('the superblock has a wrong size of group descriptors')],
  [146, damageFinding('an inode does not match its checksum')],
  [147, damageFinding('an inode bitmap does not match its checksum')],
  [148, damageFinding('an extent block does not match its checksum')],
  [149, damageFinding('a block of a directory has no room for its checksum')],
  [150, damageFinding('a block of a directory does not match its checksum')],
  [151, damageFinding('a block of extended attributes does not match its checksum')],
  [152, damageFinding('the superblock does not match its checksum')],
  [153, damageFinding('the superblock names a checksum that is not known')],
  [155, { code: 'EEXIST' }],
  [156, damageFinding('a block bitmap does not match its checksum')],
  [169, damageFinding('an inode holds what is no inode')],
  [174, damageFinding('its structures contradict each other')],
  [175, damageFinding('a checksum does not match')],
  [176, damageFinding('the superblock of the journal is wrong')],
  [177, damageFinding('an inode is wrong')],
])

/**
 * Meaning of an error number; undefined when it is not of libext2fs.
 *
 * @param errno the positive number
 */
export function filesystemFinding(errno: number): ExtErrorMeaning | undefined {
  const number = errno - FIRST
  if (number < 0 || number > 255) return undefined
  return FINDINGS.get(number) ?? damageFinding(`its structures contradict each other (libext2fs error ${number})`)
}
