import { dialectOf } from '../../dialects/index.js'
import { X509Certificate } from 'node:crypto'
import { randomUuid, ownMember } from '../../../base/runtime/index.js'
import type { MediaDrive } from '../../../machine/index.js'
import {
  anyObject,
  anythingCheck,
  checkAction,
  checkCreation,
  objectCheck,
  choiceCheck,
  textCheck,
} from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  type RedfishDocument,
  type Reference,
} from '../protocol/redfish-document.js'
import { baseMessage } from '../protocol/redfish-messages.js'
import { messageRefusal, Refusal } from '../protocol/redfish-refusal.js'
import {
  ofMachine,
  ofService,
  type RedfishCall,
  type MachineCall,
  type RedfishOutcome,
  type RedfishResource,
  type ResourceParent,
} from '../protocol/resource.js'
import { decodePathPart } from '../protocol/path-part.js'
import { slotNamed } from './virtual-media-resources.js'

const REPLACE = 'CertificateService.ReplaceCertificate'
const CERTIFICATE_TYPES = choiceCheck(['PEM'])

const deviceOf = (parent: ResourceParent, { params, spoken }: MachineCall): MediaDrive | undefined =>
  slotNamed(spoken.dialect, params['slot'] ?? '', parent)?.drive ?? undefined

/** @throws Refusal 400 for a text that is no certificate */
function certificateIn(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new Refusal(400, [
      baseMessage('PropertyValueFormatError', [pem.slice(0, 40), 'CertificateString'], {
        property: 'CertificateString',
        resolution: 'Send one certificate as PEM.',
      }),
    ])
  }
}

const DN_ATTRIBUTE_NAMES: Readonly<Record<string, string>> = {
  CN: 'CommonName',
  O: 'Organization',
  OU: 'OrganizationalUnit',
  L: 'City',
  ST: 'State',
  C: 'Country',
}

const parseDistinguishedName = (text: string): RedfishDocument =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, key = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
      const name = ownMember(DN_ATTRIBUTE_NAMES, key)
      return name === undefined ? [] : [[name, value]]
    }),
  )

function certificateOf(path: readonly string[], pem: string): RedfishDocument {
  const certificate = certificateIn(pem)
  return {
    ...resourceHead('Certificate', path, 'Certificate of image servers'),
    CertificateType: 'PEM',
    CertificateString: pem,
    CertificateUsageTypes: ['Web'],
    Subject: parseDistinguishedName(certificate.subject),
    Issuer: parseDistinguishedName(certificate.issuer),
    ValidNotBefore: new Date(certificate.validFrom).toISOString(),
    ValidNotAfter: new Date(certificate.validTo).toISOString(),
    SerialNumber: certificate.serialNumber.match(/../g)?.join(':') ?? '',
    Fingerprint: certificate.fingerprint256,
    FingerprintHashAlgorithm: 'TPM_ALG_SHA256',
  }
}

/** Properties that a client may give a new certificate. */
const CERTIFICATE_FIELDS = {
  CertificateString: textCheck({ most: 65_536 }),
  CertificateType: CERTIFICATE_TYPES,
  UefiSignatureOwner: anythingCheck,
  KeyUsage: anythingCheck,
  Oem: anyObject,
}

const pathTo = (parent: ResourceParent, { machine, params }: MachineCall, ...more: string[]): string[] => [
  parent,
  machine.spec.id,
  'VirtualMedia',
  params['slot']!,
  'Certificates',
  ...more,
]

/** The certificates of a slot, and the one that the path names; undefined for a slot that does not exist. */
function trustOf(parent: ResourceParent, call: MachineCall) {
  const device = deviceOf(parent, call)
  if (!device) return undefined
  const { certificates } = call.machine.firmware.mediaTrust(device)
  return { device, certificates, one: certificates.find(({ id }) => id === call.params['certificate']) }
}

function certificateCollection(parent: ResourceParent, call: MachineCall): RedfishDocument | undefined {
  const trust = trustOf(parent, call)
  if (!trust) return undefined
  const path = pathTo(parent, call)
  const members = trust.certificates.map(({ id }) => referenceTo(...path, id))
  return makeCollection('CertificateCollection', path, 'Certificates', members)
}

function certificateDocument(parent: ResourceParent, call: MachineCall): RedfishDocument | undefined {
  const one = trustOf(parent, call)?.one
  return one && certificateOf(pathTo(parent, call, one.id), one.pem)
}

/** @throws Refusal 404 for an unknown slot, 400 for a text that is no certificate */
async function addCertificate(parent: ResourceParent, call: MachineCall): Promise<RedfishOutcome> {
  const { machine, body, params, service } = call
  const trust = trustOf(parent, call)
  if (!trust) throw messageRefusal(404, 'ResourceNotFound', ['VirtualMedia', params['slot']!])
  checkCreation(body, CERTIFICATE_FIELDS, ['CertificateString', 'CertificateType'])
  const pem = String(body['CertificateString'])
  certificateIn(pem)
  const id = randomUuid(service.random).slice(0, 8)
  const certificates = [...trust.certificates, { id, pem }]
  if (!call.isLie) await machine.firmware.trustMedia(trust.device, { certificates })
  const path = pathTo(parent, call, id)
  return { status: 201, headers: { location: redfishPath(...path) }, document: certificateOf(path, pem) }
}

/** @throws Refusal 404 for an unknown certificate */
async function removeCertificate(parent: ResourceParent, call: MachineCall): Promise<void> {
  const trust = trustOf(parent, call)
  if (!trust?.one) throw messageRefusal(404, 'ResourceNotFound', ['Certificate', call.params['certificate']!])
  const certificates = trust.certificates.filter((each) => each !== trust.one)
  await call.machine.firmware.trustMedia(trust.device, { certificates })
}

/** Certificates of slots, below a system or below its manager. */
const certificateResources = (parent: ResourceParent): RedfishResource[] => [
  ofMachine(`/${parent}/{machine}/VirtualMedia/{slot}/Certificates`, {
    reads: 'read certificates',
    changes: 'change certificates',
    get: (call) => certificateCollection(parent, call),
    post: (call) => addCertificate(parent, call),
    liesItself: true,
  }),
  ofMachine(`/${parent}/{machine}/VirtualMedia/{slot}/Certificates/{certificate}`, {
    reads: 'read certificates',
    changes: 'change certificates',
    get: (call) => certificateDocument(parent, call),
    delete: (call) => removeCertificate(parent, call),
  }),
]

/** All certificates of the caller's machines, below their managers. */
function locations({ service, caller }: RedfishCall): Reference[] {
  return (caller ? service.visible(caller) : []).flatMap(({ spec, firmware }) => {
    const { slots } = dialectOf(spec).media
    // The same drive may have a slot in each folder.
    const own = slots.filter(({ drive }, at) => slots.findIndex((each) => each.drive === drive) === at)
    return own.flatMap(({ id: slot, drive, below }) => {
      const parent = below.includes('Managers') ? 'Managers' : 'Systems'
      const { certificates } = drive === null ? { certificates: [] } : firmware.mediaTrust(drive)
      return certificates.map(({ id }) => referenceTo(parent, spec.id, 'VirtualMedia', slot, 'Certificates', id))
    })
  })
}

async function replace(call: RedfishCall): Promise<void> {
  const { body, service, caller } = call
  const fields = {
    CertificateString: textCheck({ most: 65_536 }),
    CertificateType: CERTIFICATE_TYPES,
    // The schema has a reference; sushy sends the path alone.
    CertificateUri: (value: unknown, path: string) =>
      typeof value === 'string' ? textCheck()(value, path) : objectCheck({ '@odata.id': textCheck() })(value, path),
  }
  checkAction(REPLACE, body, fields, Object.keys(fields))
  const named = body['CertificateUri'] as string | RedfishDocument
  const uri = typeof named === 'string' ? named : String(named['@odata.id'])
  const [, parent, id = '', slot = '', certificate = ''] =
    /^\/redfish\/v1\/(Systems|Managers)\/([^/]+)\/VirtualMedia\/(\w+)\/Certificates\/([^/]+)$/.exec(uri) ?? []
  const machine = service.machines.get(decodePathPart(id) ?? '')
  const folder = parent === 'Systems' ? 'Systems' : 'Managers'
  const device = machine && slotNamed(dialectOf(machine.spec), slot, folder)?.drive
  const isOwn = machine !== undefined && caller !== undefined && service.sees(machine, caller)
  const known = isOwn && device ? machine.firmware.mediaTrust(device).certificates : []
  if (!isOwn || !device || !known.some((each) => each.id === certificate))
    throw messageRefusal(400, 'ActionParameterValueNotInList', [uri, 'CertificateUri', REPLACE], {
      property: 'CertificateUri',
      resolution: 'Name a certificate of CertificateLocations.',
    })
  const pem = String(body['CertificateString'])
  certificateIn(pem)
  const certificates = known.map((each) => (each.id === certificate ? { ...each, pem } : each))
  await machine.firmware.trustMedia(device, { certificates })
}

/** Certificates of the servers that images of virtual media come from. */
export const CERTIFICATE_RESOURCES: readonly RedfishResource[] = [
  ofService('/CertificateService', {
    reads: 'read certificates',
    get: () => ({
      ...resourceHead('CertificateService', ['CertificateService'], 'Certificate Service'),
      CertificateLocations: referenceTo('CertificateService', 'CertificateLocations'),
      Actions: { [`#${REPLACE}`]: { target: redfishPath('CertificateService', 'Actions', REPLACE) } },
    }),
  }),
  ofService('/CertificateService/CertificateLocations', {
    reads: 'read certificates',
    get: (call) => {
      const certificates = locations(call)
      return {
        ...resourceHead(
          'CertificateLocations',
          ['CertificateService', 'CertificateLocations'],
          'Certificate Locations',
        ),
        Links: { Certificates: certificates, 'Certificates@odata.count': certificates.length },
      }
    },
  }),
  ofService(`/CertificateService/Actions/${REPLACE}`, { reads: 'change certificates', post: replace }),
  ...certificateResources('Systems'),
  ...certificateResources('Managers'),
]
