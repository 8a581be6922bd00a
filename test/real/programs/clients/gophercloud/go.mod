module ironstage.test/gophercloud

go 1.25.0

// The one that BareMetal Operator has.
require github.com/gophercloud/gophercloud/v2 v2.13.0
