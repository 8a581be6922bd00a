import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { openKube, isRefusal } from '../../base/kubernetes/index.js'
import type { JsonMembers } from '../../base/kubernetes/kube-json.js'
import { unknownFields } from '../../base/kubernetes/validation.js'
import { askMetal3Webhooks, wantedHosts } from '../../baremetal-operator/index.js'
import { seededRandom, VirtualClock } from '../../base/runtime/index.js'

/**
 * `verdicts.jsonl`: what the CustomResourceDefinitions and webhooks of BareMetal Operator 02aa505 (2026-08-20) say of each
 * object of the manifests, by apiextensions-apiserver 0.36 and the operator's own Go code.
 */
interface Verdict {
  file: string
  /** Counted from 1. */
  document: number
  kind: string
  name: string
  /** Fields that the API server warns of and drops, and kubectl's strict validation refuses. */
  unknown?: string[]
  /** Refusals by the schema. */
  crd?: string[]
  /** Refusal by the webhook. */
  webhook?: string
}

const FOLDER = new URL('../fixtures/manifests/', import.meta.url).pathname
const verdicts = readFileSync(join(FOLDER, 'verdicts.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Verdict)

const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8')
const documentOf = ({ file, document }: Verdict): unknown => parseAllDocuments(textOf(file))[document - 1]!.toJS()

/** Sentences of a refusal; Go makes some of its lists from maps, whose order is random. */
const sentencesOf = (text: string): string[] =>
  text
    .replace(/^\[(.*)\]$/s, '$1')
    .split(', ')
    .sort()

test('every manifest of the folder has its verdicts', () => {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.yaml'))
  expect(new Set(verdicts.map(({ file }) => file))).toEqual(new Set(files))
  expect(verdicts.length).toBeGreaterThan(140)
  // Those of the folder are written after public documents, which their first lines name.
  const ofDocuments = files.filter((name) => name.startsWith('public/'))
  expect(ofDocuments.length).toBeGreaterThan(40)
  for (const file of ofDocuments) expect(textOf(file)).toMatch(/^# After [^\n]+\.\n/)
})

describe.each(verdicts)('$file, document $document', (verdict) => {
  test('is taken or refused by the kube API as by BareMetal Operator', () => {
    const { store } = openKube({ clock: new VirtualClock(), random: seededRandom(1), webhooks: askMetal3Webhooks })
    const { crd, webhook, kind, name } = verdict
    const create = () => store.create(kind, documentOf(verdict))
    if (!crd && webhook === undefined) {
      expect(create()).toMatchObject({ kind, metadata: { name } })
      return
    }
    const refused = refusalOf(create)
    if (webhook !== undefined) {
      expect(refused.code).toBe(403)
      const [, sentence = refused.message] = /denied the request: (.*)$/s.exec(refused.message) ?? []
      expect(refused.message).toContain(`admission webhook "${kind.toLowerCase()}.metal3.io" denied the request: `)
      expect(sentencesOf(sentence)).toEqual(sentencesOf(webhook))
      return
    }
    expect(refused.code).toBe(422)
    expect(causesOf(refused)).toEqual(crd!.sort())
  })

  test('has the fields that the API server does not know, which are not stored', () => {
    const { kind, crd, webhook, unknown = [] } = verdict
    const sent = documentOf(verdict) as JsonMembers
    const { store } = openKube({ clock: new VirtualClock(), random: seededRandom(1) })
    const { storage } = store.kinds.get(kind)
    expect(unknownFields(storage, sent)).toEqual(unknown)
    if (crd || webhook !== undefined) return
    expect(unknownFields(storage, { ...store.create(kind, sent) })).toEqual([])
  })

  test('is taken or refused by bmh explain and --hosts as by BareMetal Operator', () => {
    const { file, document, unknown, crd, webhook } = verdict
    const { findings } = wantedHosts([{ name: file, text: textOf(file) }])
    const errors = findings.filter((each) => each.kind === 'error' && each.document === document)
    const isRefused = unknown !== undefined || crd !== undefined || webhook !== undefined
    expect(errors.length > 0).toBe(isRefused)
    // The API server refuses unknown fields before it asks a webhook.
    const messages = errors.map(({ message }) => message)
    for (const field of unknown ?? []) {
      const sentence = `strict decoding error: unknown field "${field}"`
      // bmh explain adds the nearest field.
      expect(messages.map((message) => message.replace(/; did you mean .*\?$/, ''))).toContain(sentence)
    }
    if (webhook !== undefined && !unknown)
      expect(errors.flatMap(({ message }) => sentencesOf(message)).sort()).toEqual(sentencesOf(webhook))
    for (const { line, column } of errors) {
      expect(line).toBeGreaterThan(0)
      expect(column).toBeGreaterThan(0)
    }
  })
})

interface RefusedStatus {
  code: number
  message: string
  details?: { causes?: readonly { field?: string; message?: string }[] }
}

function refusalOf(act: () => unknown): RefusedStatus {
  try {
    act()
  } catch (error) {
    if (isRefusal(error, 403) || isRefusal(error, 422)) return error.status as RefusedStatus
    throw error
  }
  throw new Error('the object was taken')
}

const causesOf = ({ details }: RefusedStatus): string[] =>
  (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`).sort()
