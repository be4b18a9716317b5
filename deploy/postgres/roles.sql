-- Run once by a superuser; psql reads the passwords from the environment. The first role owns the database and migrates. The second role
-- serves, and gets its rights by `paylatch migrate grants --to paylatch`.
\set ON_ERROR_STOP on
\getenv owner_password OWNER_PASSWORD
\getenv serving_password SERVING_PASSWORD
CREATE ROLE paylatch_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE paylatch LOGIN PASSWORD :'serving_password';
CREATE DATABASE paylatch OWNER paylatch_owner;
REVOKE ALL ON DATABASE paylatch FROM PUBLIC;
GRANT CONNECT ON DATABASE paylatch TO paylatch;
