import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { CellParts } from './cell-script.js'
import type { FilterLoader } from './filter-loader.js'
import { READ_ONLY_NEEDS, type CellNeeds } from './needs.js'
import { endTreesScript, sharedCellText, sharesTree } from './shared-tree.js'

const SHELLS = [['/bin/sh'], ['/bin/bash'], ['/usr/bin/busybox', 'sh']].filter(([path]) => existsSync(path!))

const partsOf = (needs: Partial<CellNeeds> = {}, loader: FilterLoader = 'perl'): CellParts => ({
  policy: 'cgroup-v1',
  filtering: { processor: 'x86_64', loader },
  needs: { ...READ_ONLY_NEEDS, ...needs },
  resolve: '',
  root: '',
  links: false,
})

describe('the script of a shared tree', () => {
  test.each([{}, { udevControl: true }, { network: true }])('is valid in every shell, for needs of %j', (needs) => {
    const { open, enter, watch, close, after } = sharedCellText(partsOf(needs), 'session')
    // The texts for other shells are words of it.
    const inner = spawnSync('sh', ['-c', `${assignmentsIn(open)}\nprintf '%s\\n---\\n' "$tree_text" "$shared_text"`], {
      encoding: 'utf8',
    }).stdout.split('\n---\n')
    expect(inner[0]).toContain('pivot_root . run/tmp')
    expect(inner[1]).toMatch(/\nexec unshare --cgroup .*\bsetpriv\b/)
    for (const [shell, ...more] of SHELLS)
      for (const part of [open, enter, watch, close, after, ...inner, endTreesScript('session')]) {
        const { stderr, status } = spawnSync(shell!, [...more, '-n'], { encoding: 'utf8', input: part })
        expect([stderr, status]).toEqual(['', 0])
      }
  })

  test("covers up udevd's socket unless the command asks it", () => {
    const covers = (needs: Partial<CellNeeds>) =>
      sharedCellText(partsOf(needs), 'session').open.includes('list=/run/ironstage-cell/covered')
    expect([covers({}), covers({ udevControl: true })]).toEqual([true, false])
  })
})

/** The assignments of texts at the end of a script, which other text stands between. */
function assignmentsIn(open: string): string {
  const tree = open.slice(open.indexOf('tree_text='), open.indexOf('\nfind_tree || make_tree'))
  const shared = open.slice(open.indexOf('shared_text='), open.indexOf('\n[ -z "$tree_pid" ] || {'))
  return `${tree}\n${shared}`
}

describe('a command shares a tree', () => {
  const command = {
    argv: ['stat', '/etc/hostname'],
    needs: READ_ONLY_NEEDS,
    hasInput: false,
    hidden: ['/run/ironstage'],
  }

  test.each([
    ['a program that is known to make no files', {}],
    ['a network', { needs: { ...READ_ONLY_NEEDS, network: true } }],
    ["udevd's socket", { needs: { ...READ_ONLY_NEEDS, udevControl: true } }],
  ])('with %s', (_, more) => {
    expect(sharesTree({ ...command, ...more }, partsOf())).toBe(true)
  })

  test.each<[string, Partial<typeof command>]>([
    ['any other program', { argv: ['sh', '-c', 'true'] }],
    ['a program by its path', { argv: ['/usr/bin/stat', '/'] }],
    ['an input', { hasInput: true }],
    ['a folder of ironstage', { argv: ['cat', '/run/ironstage/mnt/sda3/x'] }],
    ['the right writesDisk', { needs: { ...READ_ONLY_NEEDS, writesDisk: true } }],
    ['the right partitions', { needs: { ...READ_ONLY_NEEDS, partitions: true } }],
    ['the right unixSockets', { needs: { ...READ_ONLY_NEEDS, unixSockets: true } }],
    ['the right efiVariables', { needs: { ...READ_ONLY_NEEDS, efiVariables: true } }],
    ['the right sysfs', { needs: { ...READ_ONLY_NEEDS, sysfs: true } }],
    ['the right files', { needs: { ...READ_ONLY_NEEDS, files: true } }],
    ['a capability', { needs: { ...READ_ONLY_NEEDS, capabilities: ['sys_admin'] } }],
    ['another device', { needs: { ...READ_ONLY_NEEDS, devices: ['ipmi[0-9]'] } }],
  ])('never with %s', (_, more) => {
    expect(sharesTree({ ...command, ...more }, partsOf())).toBe(false)
  })

  test('never where nothing loads a filter, in a tree by chroot, or with the names of udev', () => {
    for (const more of [{ filtering: null }, { root: '/mnt/coreos' }, { links: true }])
      expect(sharesTree(command, { ...partsOf(), ...more })).toBe(false)
  })
})
