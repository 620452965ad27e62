"""Tables of data: CSV and Parquet, read column by column, counted and tallied without holding them."""
