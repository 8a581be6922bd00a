import { head, link } from '../protocol/document.js'
import { MOST_LEVELS } from '../protocol/query.js'
import { ofService, type Resource } from '../protocol/resource.js'

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
export const SERVICE_ROOT: readonly Resource[] = [
  ofService('/', {
    open: true,
    reads: 'read service',
    get: ({ service }) => ({
      ...head('ServiceRoot', [], 'Root Service'),
      '@odata.id': '/redfish/v1/',
      Id: 'RootService',
      RedfishVersion: '1.21.0',
      UUID: service.uuid,
      Product: 'ironstage',
      // Without Vendor, which Ironic would take for that of all machines: each names its manufacturer.
      ProtocolFeaturesSupported: {
        ExcerptQuery: false,
        ExpandQuery: { ExpandAll: true, Levels: true, Links: true, MaxLevels: MOST_LEVELS, NoLinks: true },
        FilterQuery: false,
        OnlyMemberQuery: true,
        SelectQuery: true,
        TopSkipQuery: true,
        DeepOperations: { DeepPATCH: false, DeepPOST: false },
        MultipleHTTPRequests: true,
      },
      Systems: link('Systems'),
      Managers: link('Managers'),
      Chassis: link('Chassis'),
      SessionService: link('SessionService'),
      UpdateService: link('UpdateService'),
      Tasks: link('TaskService'),
      EventService: link('EventService'),
      AccountService: link('AccountService'),
      CertificateService: link('CertificateService'),
      Registries: link('Registries'),
      JsonSchemas: link('JsonSchemas'),
      Links: { Sessions: link('SessionService', 'Sessions') },
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
