import { resourceHead, referenceTo } from '../protocol/redfish-document.js'
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

/** The root, which needs no credentials, and the OData documents beside it. */
export const SERVICE_ROOT: readonly RedfishResource[] = [
  ofService('/', {
    open: true,
    reads: 'read service',
    get: ({ service }) => ({
      ...resourceHead('ServiceRoot', [], 'Root Service'),
      '@odata.id': '/redfish/v1/',
      Id: 'RootService',
      RedfishVersion: '1.21.0',
      UUID: service.uuid,
      Product: 'ironstage',
      // Without Vendor, which Ironic would take for that of all machines: each names its manufacturer.
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
