// A setup file of the project `deploy`: its files start gateways, workers and the others as they are shipped, not from bundles.
process.env.TEST_SHIPPED = 'yes';
