-- Makes the role with which Grafana and people read the history of all tenants. Run it once with psql as the user of
-- DATABASE_URL, before or after the first projector. READER_PASSWORD in the environment is its password; unset: none.
\getenv password READER_PASSWORD
CREATE ROLE toolyard_reader LOGIN;
\if :{?password}
ALTER ROLE toolyard_reader PASSWORD :'password';
\endif
ALTER ROLE toolyard_reader SET default_transaction_read_only = on;
ALTER ROLE toolyard_reader SET statement_timeout = '30s';
ALTER ROLE toolyard_reader SET search_path = toolyard;
CREATE SCHEMA IF NOT EXISTS toolyard;
GRANT USAGE ON SCHEMA toolyard TO toolyard_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA toolyard TO toolyard_reader;
-- Never the keys of encrypted content. A table that is made later revokes it itself.
SELECT to_regclass('toolyard.content_keys') IS NOT NULL AS has_keys \gset
\if :has_keys
REVOKE ALL ON toolyard.content_keys FROM toolyard_reader;
\endif
-- For tables of later releases, and for all of them when the schema was dropped to be made again.
ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO toolyard_reader;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO toolyard_reader;
