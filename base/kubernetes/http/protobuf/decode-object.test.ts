import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { KubeRefusal } from '../../kube-refusal.js'
import type { JsonMembers } from '../../kube-json.js'
import { decodeKubeObject } from './decode-object.js'

interface EncodedBody {
  /** Base64. */
  body: string
  /** The same object as Go writes it in JSON. */
  object: JsonMembers
}

/** Bodies that client-go has made. */
const FIXTURE = new URL('../../../../test/fixtures/kube-api/protobuf-bodies.json', import.meta.url)
const { bodies } = JSON.parse(readFileSync(FIXTURE, 'utf8')) as { bodies: EncodedBody[] }

const bytesOf = ({ body }: EncodedBody): Buffer => Buffer.from(body, 'base64')

const refusalOf = (bytes: Uint8Array): string => {
  try {
    decodeKubeObject(bytes)
  } catch (error) {
    if (error instanceof KubeRefusal) return `${error.status.code} ${error.message}`
    throw error
  }
  throw new Error('it was not refused')
}

test.each(bodies.map((each) => [each.object['kind'], each] as const))(
  'a %s of client-go is read as Go writes it in JSON',
  (_, each) => {
    expect(decodeKubeObject(bytesOf(each))).toEqual(each.object)
  },
)

describe('refuses in one sentence', () => {
  test('what is no protobuf', () => {
    expect(refusalOf(Buffer.from('{}'))).toBe(
      '400 the body of the request is no protobuf of Kubernetes: it does not begin with k8s and a zero byte',
    )
    expect(refusalOf(new Uint8Array())).toContain('it does not begin with')
  })

  test('a kind that no controller sends so', () => {
    const apiVersion = 'apps/v1'
    const kind = 'Deployment'
    const typeMeta = `\n${String.fromCharCode(apiVersion.length)}${apiVersion}\x12${String.fromCharCode(kind.length)}${kind}`
    const body = Buffer.from(`k8s\0\n${String.fromCharCode(typeMeta.length)}${typeMeta}`)
    expect(refusalOf(body)).toMatch(/^415 this API reads Deployment of apps\/v1 as JSON or YAML.* --dry-run=client/)
  })

  test('a body that is cut off anywhere', () => {
    for (const each of bodies) {
      const whole = bytesOf(each)
      // The last field of the envelope is an empty contentType: without it and its length the object is whole.
      for (let length = 0; length < whole.length - 4; length++)
        expect(refusalOf(whole.subarray(0, length))).toMatch(/^4\d\d /)
    }
  })

  test('bytes that were changed, or reads them as another object', () => {
    for (const each of bodies)
      for (let at = 4; at < bytesOf(each).length; at++)
        for (const bit of [0x01, 0x80]) {
          const changed = bytesOf(each)
          changed[at]! ^= bit
          try {
            decodeKubeObject(changed)
          } catch (error) {
            expect(error).toBeInstanceOf(KubeRefusal)
          }
        }
  })
})
