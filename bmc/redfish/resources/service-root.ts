import { defined } from '../../../base/runtime/index.js'
import type { BmcDialect } from '../../dialects/index.js'
import { resourceHead, referenceTo, type RedfishDocument } from '../protocol/redfish-document.js'
import { MAX_EXPAND_LEVELS } from '../protocol/query.js'
import { ofService, type RedfishResource } from '../protocol/resource.js'

const SERVICES = [
  'Systems',
  'Managers',
  'Chassis',
  'SessionService',
  'UpdateService',
  'TaskService',
  'EventService',
  'AccountService',
  'CertificateService',
  'Registries',
  'JsonSchemas',
]

/** Maker of the service in its root, where all machines have the same BMC. */
const serviceIdentity = ({ service: { vendor, product, oem } }: BmcDialect): RedfishDocument =>
  defined({
    Product: product ?? undefined,
    Vendor: vendor ?? undefined,
    Oem: oem === null ? undefined : { [oem]: {} },
  })

/** The root, which needs no credentials, and the OData documents beside it. */
export const SERVICE_ROOT: readonly RedfishResource[] = [
  ofService('/', {
    open: true,
    reads: 'read service',
    get: ({ service, spoken }) => ({
      ...resourceHead('ServiceRoot', [], 'Root Service'),
      '@odata.id': '/redfish/v1/',
      Id: 'RootService',
      RedfishVersion: spoken.dialect.service.redfishVersion,
      UUID: service.uuid,
      ...serviceIdentity(spoken.dialect),
      ProtocolFeaturesSupported: {
        ExcerptQuery: false,
        ExpandQuery: { ExpandAll: true, Levels: true, Links: true, MaxLevels: MAX_EXPAND_LEVELS, NoLinks: true },
        FilterQuery: false,
        OnlyMemberQuery: true,
        SelectQuery: true,
        TopSkipQuery: true,
        DeepOperations: { DeepPATCH: false, DeepPOST: false },
        MultipleHTTPRequests: true,
      },
      Systems: referenceTo('Systems'),
      Managers: referenceTo('Managers'),
      Chassis: referenceTo('Chassis'),
      SessionService: referenceTo('SessionService'),
      UpdateService: referenceTo('UpdateService'),
      Tasks: referenceTo('TaskService'),
      EventService: referenceTo('EventService'),
      AccountService: referenceTo('AccountService'),
      CertificateService: referenceTo('CertificateService'),
      Registries: referenceTo('Registries'),
      JsonSchemas: referenceTo('JsonSchemas'),
      Links: { Sessions: referenceTo('SessionService', 'Sessions') },
    }),
  }),
  ofService('/odata', {
    open: true,
    reads: 'read service',
    get: () => ({
      '@odata.context': '/redfish/v1/$metadata',
      value: SERVICES.map((name) => ({ name, kind: 'Singleton', url: `/redfish/v1/${name}` })),
    }),
  }),
]
