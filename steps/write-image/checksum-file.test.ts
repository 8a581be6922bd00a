import { expect, test } from 'vitest'
import { digestInFile } from './checksum-file.js'

const SUMS = 'http://images.example/SUMS'
const IMAGE = 'http://images.example/files/disk.raw?token=x'
const SHA256 = 'a1'.repeat(32)
const SHA512 = 'b2'.repeat(64)
const MD5 = 'c3'.repeat(16)

test.each([
  ['a digest alone', SHA256],
  ['a digest in capitals', `${SHA256.toUpperCase()}\n`],
  ['sha256sum', `${MD5}  other\n${SHA256}  disk.raw\n`],
  ['sha256sum of binary files', `${SHA256} *disk.raw`],
  ['BSD', `SHA256 (other) = ${'0'.repeat(64)}\nSHA256 (disk.raw) = ${SHA256}\n`],
  ['a comment above', `# disk.raw: 5 bytes\nSHA256 (disk.raw) = ${SHA256}\n`],
  ['Windows line ends', `${SHA256}  disk.raw\r\n${MD5}  other\r\n`],
])('a digest is found in the form of %s', (_, text) => {
  expect(digestInFile(text, SUMS, IMAGE)).toBe(SHA256)
})

test('the first of several digests of one file is taken', () => {
  expect(digestInFile(`${SHA512}  disk.raw\n${SHA256}  disk.raw\n`, SUMS, IMAGE)).toBe(SHA512)
})

test.each([
  ['an empty file', '\n \n', 'Empty checksum file'],
  ['one word that is no digest', 'hello', "Invalid checksum file (No valid checksum found) ['hello']"],
  ['a SHA-1', 'a'.repeat(40), `Invalid checksum file (No valid checksum found) ['${'a'.repeat(40)}']`],
  ['other images', `${SHA256}  other\n${SHA256}  my-disk.raw\n`, 'Checksum file does not contain name disk.raw'],
  ['a folder before the name', `${SHA256}  files/disk.raw\n${MD5}  x`, 'Checksum file does not contain name disk.raw'],
  ['a page of HTML', '<html> <body>404 disk.raw</body> </html>', 'Checksum file does not contain name disk.raw'],
])('ironic-python-agent refuses %s', (_, text, sentence) => {
  expect(() => digestInFile(text, SUMS, IMAGE)).toThrow(`Download of image ${SUMS} failed: ${sentence}`)
})
