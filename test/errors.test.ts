import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import * as agent from '../agent/index.js'
import * as baremetalOperator from '../baremetal-operator/index.js'
import * as bytes from '../base/bytes/index.js'
import * as cli from '../apps/cli/index.js'
import * as coreos from '../coreos/index.js'
import * as dialects from '../bmc/dialects/index.js'
import * as dumps from '../bmc/dumps/index.js'
import * as fleet from '../apps/fleet/index.js'
import * as hardwareFiles from '../apps/hardware-files/index.js'
import * as hardwareLab from '../apps/hardware-lab/index.js'
import * as ignition from '../ignition/index.js'
import * as ironicMock from '../ironic-mock/index.js'
import * as kubernetes from '../base/kubernetes/index.js'
import * as lab from '../lab/index.js'
import * as machine from '../machine/index.js'
import * as recording from '../apps/recording/index.js'
import * as registry from '../base/registry/index.js'
import * as runs from '../apps/runs/index.js'
import * as runtime from '../base/runtime/index.js'
import * as steps from '../steps/index.js'
import * as targets from '../targets/index.js'
import * as wire from '../base/wire/index.js'
import { sourceFiles } from './kit/source-tree.js'

const doors = {
  agent,
  'baremetal-operator': baremetalOperator,
  bytes,
  cli,
  coreos,
  dialects,
  dumps,
  fleet,
  'hardware-files': hardwareFiles,
  'hardware-lab': hardwareLab,
  ignition,
  'ironic-mock': ironicMock,
  kubernetes,
  lab,
  machine,
  recording,
  registry,
  runs,
  runtime,
  steps,
  targets,
  wire,
}
const root = fileURLToPath(new URL('..', import.meta.url))
const catalogues = Object.entries(doors).map(([room, { ERRORS }]) => [room, Object.entries(ERRORS)] as const)

test('each code of an error is in one catalogue', () => {
  const codes = catalogues.flatMap(([, entries]) => entries.map(([code]) => code))
  expect(codes.length).toBeGreaterThan(150)
  expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([])
})

test.each(catalogues)(
  'the catalogue of %s is in order, in one spelling, with a sentence and a remedy each',
  (_, entries) => {
    const codes = entries.map(([code]) => code)
    expect(codes).toEqual([...codes].sort())
    for (const [code, { sentence, remedy }] of entries) {
      expect(code).toMatch(/^[a-z\d]+(-[a-z\d]+)*$/)
      for (const text of [sentence, remedy]) expect(text).toMatch(/^\S.{3,}[^.\s]$/)
    }
  },
)

test('no catalogue has a code that the sources do not use', () => {
  const sources = sourceFiles(root).filter((file) => !file.endsWith('.test.ts') && !file.endsWith('/errors.ts'))
  const everything = sources.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
  const unused = catalogues.flatMap(([room, entries]) =>
    entries.flatMap(([code]) => (everything.includes(`'${code}'`) ? [] : [`${room}: ${code}`])),
  )
  expect(unused).toEqual([])
})
